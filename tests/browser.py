"""A real browser, where there is one, that looks at a page without any network."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PHONE = 380
"""Pixels across a small screen."""
SCRIPT = f"""
<script>
const errors = [];
window.onerror = message => errors.push(message);
window.onload = () => {{
  document.documentElement.style.width = "{PHONE}px";
  const links = [...document.querySelectorAll("a")].map(a => a.getAttribute("href"));
  document.title = JSON.stringify({{
    images: [...document.images].filter(i => i.complete && i.naturalWidth > 0).length,
    missing: [...document.images].filter(i => !i.naturalWidth).length,
    dead: links.filter(href => !document.getElementById(href.slice(1))),
    width: document.body.scrollWidth,
    errors: errors,
  }});
}};
</script>
"""


def look(page: Path, folder: Path) -> dict[str, Any]:
    """Open a copy of the page, and tell what the browser makes of it on a phone."""
    assert CHROMIUM is not None
    copy = folder / "looked_at.html"
    copy.write_text(page.read_text(encoding="utf-8").replace("<body>", f"<body>{SCRIPT}"), encoding="utf-8")
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=20000", "--dump-dom", copy.as_uri(),
    ]  # fmt: skip
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    found = re.search(r"<title>(\{.*?\})</title>", shown)
    assert found is not None, shown[:500]
    told: dict[str, Any] = json.loads(unescape(found[1]))
    return told
