"""What papers or their code do that hides nobody: kept to be measured, never for a release.

The event of everything here is `NonPrivate`, with the reason, so that no accountant gives it an epsilon. Nothing
that users call for their own records imports this package.
"""
