(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  all('details').forEach((details) => { details.open = true; });
  const shut = all('details').filter((details) => {
    const last = details.lastElementChild;
    return !details.open || (last.tagName !== 'SUMMARY' && last.getBoundingClientRect().height === 0 && last.textContent.trim() !== '');
  }).map((details) => details.className);

  // A colour as numbers: whatever a style says, a canvas gives back bytes.
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const part = (byte) => { const c = byte / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const contrast = (a, b) => {
    const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  // What is behind a text: the next element that paints, or the lane in a drawing.
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      if (at instanceof SVGElement) continue;
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return rgba('white');
  };
  const faint = [];
  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || element.closest('title')) continue;
    if (!element.getClientRects().length) continue;
    texts += 1;
    const style = getComputedStyle(element);
    const drawn = element instanceof SVGElement;
    const lane = drawn && element.closest('svg').querySelector('.lane');
    const grounds = [behind(element)];
    if (lane) grounds.push(rgba(getComputedStyle(lane).fill));
    for (const ground of grounds) {
      const found = contrast(rgba(drawn ? style.fill : style.color), ground);
      if (found < 4.5) faint.push(`${found.toFixed(2)}: ${element.tagName}.${element.getAttribute('class')} ${walker.currentNode.textContent.slice(0, 40)}`);
    }
  }

  // Nothing but what scrolls in a frame of its own reaches over the edge.
  const wider = all('body *').filter((element) => {
    const box = element.getBoundingClientRect();
    const framed = element.parentElement.closest('.wide, pre, svg');
    return !framed && box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5);
  }).map((element) => `${element.tagName}.${element.getAttribute('class')}`);

  const flat = all('svg:not([aria-hidden])').filter((svg) => {
    const box = svg.getBoundingClientRect();
    return !(box.width > 100 && box.height > 40);
  }).map((svg) => svg.getAttribute('class'));
  const nameless = all('svg:not([aria-hidden])').filter((svg) => !svg.getAttribute('aria-label')).map((svg) => svg.getAttribute('class'));

  const skipped = [];
  let level = 0;
  for (const heading of all('h1, h2, h3, h4, h5, h6')) {
    const now = Number(heading.tagName[1]);
    if (now > level + 1) skipped.push(`${heading.tagName} after h${level}: ${heading.textContent.slice(0, 40)}`);
    level = now;
  }

  const parts = {};
  for (const part of ['h1', '.card', '.flow .way', '.speech', '.did > .line', '.bars .bar', 'nav a', 'details.turn']) {
    parts[part] = all(part).length;
  }
  return {
    width: innerWidth, scroll: document.scrollingElement.scrollWidth,
    dark: matchMedia('(prefers-color-scheme: dark)').matches,
    paper: getComputedStyle(document.body).backgroundColor,
    shut, faint, wider, flat, nameless, skipped, parts, texts,
  };
})()
