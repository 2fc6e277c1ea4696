"""Opacus: per-sample gradients by hooks, or ghost clipping, as the argument says."""

import sys

import protocol
import torch
from opacus import PrivacyEngine
from torch import nn
from torch.nn.functional import softplus
from torch.utils.data import DataLoader, TensorDataset

mode = sys.argv[1]
torch.manual_seed(0)


class AutoEncoder(nn.Module):
    """Returns logits, the codes and what made them, as one vector for each image."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(protocol.PIXELS, protocol.HIDDEN)
        self.mean = nn.Linear(protocol.HIDDEN, protocol.LATENT)
        self.log_std = nn.Linear(protocol.HIDDEN, protocol.LATENT)
        self.decoder = nn.Linear(protocol.LATENT, protocol.HIDDEN)
        self.logits = nn.Linear(protocol.HIDDEN, protocol.PIXELS)

    def forward(self, image):
        """Encode, draw, decode."""
        features = softplus(self.encoder(image))
        mean, log_std = self.mean(features), self.log_std(features)
        unit = torch.randn_like(mean)
        z = mean + log_std.exp() * unit
        return torch.cat([self.logits(softplus(self.decoder(z))), z, unit, log_std], 1)


class Elbo(nn.Module):
    """Negative ELBO; ghost clipping sets the reduction and reads it."""

    def __init__(self, reduction="mean"):
        super().__init__()
        self.reduction = reduction

    def forward(self, output, image):
        """Of every image, or their mean."""
        sizes = [protocol.PIXELS, protocol.LATENT, protocol.LATENT, protocol.LATENT]
        logits, z, unit, log_std = output.split(sizes, 1)
        reconstruction = (softplus(logits) - image * logits).sum(1)
        losses = reconstruction + 0.5 * (z**2 - unit**2).sum(1) - log_std.sum(1)
        return losses.mean() if self.reduction == "mean" else losses


model = AutoEncoder()
num_parameters = sum(parameter.numel() for parameter in model.parameters())
images = (torch.rand(protocol.BATCH, protocol.PIXELS) < 0.3).float()
loader = DataLoader(TensorDataset(images), batch_size=protocol.BATCH)
private = PrivacyEngine().make_private(
    module=model,
    optimizer=torch.optim.Adam(model.parameters(), lr=protocol.LEARNING_RATE),
    criterion=Elbo(),
    data_loader=loader,
    noise_multiplier=protocol.NOISE_MULTIPLIER,
    max_grad_norm=protocol.CLIP,
    poisson_sampling=False,
    grad_sample_mode=mode,
)
model, optimiser, criterion = (private[0], private[1], private[2]) if mode == "ghost" else (*private[:2], Elbo())


def run(steps):
    """Take steps one after the other."""
    for _ in range(steps):
        optimiser.zero_grad()
        criterion(model(images), images).backward()
        optimiser.step()


protocol.serve(run, num_parameters)
