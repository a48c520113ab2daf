#!/usr/bin/env python3
"""Opens every page of a folder in headless Chromium: nothing wider than the window at 390 and 1400 pixels, no picture missing, no error,
enough contrast, in light and in dark. Checks all links first, without a browser. Status 77: there is no Chromium.

Usage: browser.py FOLDER
"""
import functools
import html
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

# In a frame of the width, so that the width is exact whatever a window may be. Text and lines of plots are compared with what is behind them.
HARNESS = """<!doctype html><meta charset="utf-8"><title>harness</title><body style="margin:0"><pre id="found">unfinished</pre><script>
const found = [], pages = PAGES, widths = [390, 1400];
const numbers = colour => (colour.match(/[0-9.]+/g) || [0, 0, 0, 0]).map(Number);
const light = colour => numbers(colour).slice(0, 3).map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
function behind(element, view) {
  for (; element; element = element.parentElement) {
    const colour = view.getComputedStyle(element).backgroundColor;
    if (numbers(colour).length < 4 || numbers(colour)[3] > 0) return colour;
  }
  return "rgb(255, 255, 255)";
}
function judge(frame, name) {
  const view = frame.contentWindow, page = frame.contentDocument, root = page.documentElement;
  if (!page.querySelector("h1")) found.push(name + ": has no heading");
  if (root.scrollWidth > view.innerWidth) found.push(name + ": is " + root.scrollWidth + " pixels wide");
  for (const image of page.images) if (!image.complete || !image.naturalWidth) found.push(name + ": picture missing: " + image.src);
  for (const svg of page.querySelectorAll("svg")) if (svg.getBoundingClientRect().width < 50) found.push(name + ": a plot has no size");
  const seen = new Set();
  for (const element of page.querySelectorAll("main *, nav *")) {
    const style = view.getComputedStyle(element), inside = element.closest("svg");
    const has = [...element.childNodes].some(node => node.nodeType == 3 && node.textContent.trim());
    const line = inside && element.tagName == "path" && style.stroke != "none" && Number(style.strokeOpacity) > 0.5;
    if (!has && !line) continue;
    const colour = inside ? (line ? style.stroke : style.fill) : style.color, back = behind(inside ? inside.parentElement : element, view);
    const least = line ? 3 : 4.5, value = contrast(colour, back), words = colour + " on " + back;
    if (value < least && !seen.has(words)) { seen.add(words); found.push(name + ": contrast " + value.toFixed(2) + " of " + words + ": " + element.textContent.trim().slice(0, 30)); }
  }
}
(async () => {
  for (const page of pages) for (const width of widths) {
    const frame = document.createElement("iframe");
    frame.style.cssText = "border:0;height:900px;width:" + width + "px";
    const name = page + " at " + width;
    await new Promise(done => { frame.onload = done; frame.src = page; document.body.append(frame); });
    frame.contentWindow.onerror = message => found.push(name + ": " + message);
    try { judge(frame, name); } catch (error) { found.push(name + ": " + error); }
    frame.remove();
  }
  document.getElementById("found").textContent = JSON.stringify({ found, dark: matchMedia("(prefers-color-scheme: dark)").matches });
})();
</script>"""


def links(folder):
    """What pages link to and is not there; what they load from elsewhere; scripts."""
    pages = {path.name: path.read_text() for path in sorted(folder.glob("*.html"))}
    names = {name: set(re.findall(r'\bid="([^"]+)"', text)) for name, text in pages.items()}
    for name, text in pages.items():
        if "<script" in text or re.search(r'(?:src|href)="(?:https?:)?//', text) or "@import" in text:
            yield f"{name}: needs a script or what is elsewhere"
        for address in re.findall(r'<a [^>]*href="([^"]+)"', text):
            page, _, place = address.partition("#")
            if (page or name) not in pages or place and place not in names[page or name]:
                yield f"{name}: {address} leads nowhere"
        used = set(re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', text))
        yield from (f"{name}: a plot names {each}, which is not there" for each in used - names[name])
        twice = [each for each in names[name] if text.count(f'id="{each}"') > 1]
        yield from (f"{name}: {each} is there twice" for each in twice)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def opened(chromium, address, dark):
    """What the harness found."""
    with tempfile.TemporaryDirectory() as profile:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--window-size=1500,1000", "--timeout=400000",
                 "--virtual-time-budget=100000", f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--dump-dom"]
        done = subprocess.run([chromium, *flags, address], capture_output=True, text=True, check=False, timeout=420)
    text = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
    if not text or text[1] == "unfinished":
        return [f"Chromium did not finish: {done.stderr[-300:]}"]
    result = json.loads(html.unescape(text[1]))
    return result["found"] + ([] if result["dark"] == dark else [f"Chromium did not take the colours asked for (dark: {dark})"])


def main(folder):
    folder = pathlib.Path(folder)
    found = list(links(folder))
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium:
        pages = [path.name for path in sorted(folder.glob("*.html"))]
        with tempfile.TemporaryDirectory() as copy:
            shutil.copytree(folder, copy, dirs_exist_ok=True)
            (pathlib.Path(copy) / "harness.html").write_text(HARNESS.replace("PAGES", json.dumps(pages)))
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=copy))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            for dark in (False, True):
                found += [f"{line} ({'dark' if dark else 'light'})" for line in opened(chromium, f"http://127.0.0.1:{server.server_port}/harness.html", dark)]
            server.shutdown()
    print(*found[:40], sep="\n")
    if found:
        return 1
    if not chromium:
        print("skipped: there is no Chromium (Debian's package chromium); links were checked")
        return 77
    print(f"{len(pages)} pages at 390 and 1400 pixels, light and dark: no fault")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
