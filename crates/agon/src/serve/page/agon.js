// The one script of the page. It swaps parts that this server renders, and sends what a person does to the API. Text of debates is
// only ever set as text.

const api = '/api/v1';
const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

/** Sends JSON. A refusal throws the sentence that says what to do. */
async function send(path, body) {
  const response = await fetch(api + path, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.detail ?? `the server answered ${response.status}`);
  return answer;
}

/** HTML of this server's own renderer, as a document that runs nothing. */
async function fetchPage(address) {
  const response = await fetch(address, { headers: { Accept: 'text/html' } });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return new DOMParser().parseFromString(await response.text(), 'text/html');
}

const isBusy = new WeakSet();
/** Runs one action at a time and says what went wrong. */
async function act(button, message, action) {
  if (isBusy.has(button)) return;
  isBusy.add(button);
  button.disabled = true;
  message.textContent = '';
  try {
    await action();
  } catch (error) {
    message.textContent = error.message;
  } finally {
    isBusy.delete(button);
    button.disabled = false;
  }
}

/** Calls something soon, at most once in this many milliseconds, and never twice at once. */
function throttled(wait_ms, action) {
  let wanted = false, running = false;
  return async function run() {
    wanted = true;
    if (running) return;
    running = true;
    while (wanted) {
      wanted = false;
      try { await action(); } catch { /* The next event tries again. */ }
      await new Promise((done) => setTimeout(done, wait_ms));
    }
    running = false;
  };
}

/** Replaces the part of this name if it differs. Focus within a part is kept by leaving it alone. */
function swapPart(fresh, name) {
  const [here, there] = [document, fresh].map((root) => find(`[data-part="${name}"]`, root));
  if (here && there && here.outerHTML !== there.outerHTML) here.replaceWith(document.adoptNode(there));
}

// Every screen: a button that opens a debate.
document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-open]');
  if (!button) return;
  act(button, button.nextElementSibling, async () => {
    const opened = await send('/debates', JSON.parse(button.dataset.open));
    location.assign(`/debates/${opened.id}`);
  });
});
// A menu closes with Escape.
document.addEventListener('keydown', (event) => {
  const menu = event.key === 'Escape' && event.target.closest('details.menu[open]');
  if (menu) { menu.open = false; find('summary', menu).focus(); }
});

function listScreen() {
  const refresh = throttled(700, async () => swapPart(await fetchPage(location.href), 'debates'));
  const events = new EventSource(`${api}/events`);
  events.addEventListener('debate', refresh);
  addEventListener('pagehide', () => events.close());
}

/** What can be done with a debate: forms that name an action, in a menu or below the debate. */
function debateActions(id) {
  for (const form of findAll('form[data-action]')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const action = form.dataset.action;
      const fields = Object.fromEntries([...new FormData(form)].filter(([, value]) => value.trim() !== ''));
      if (action === 'branches') fields.at = Number(fields.at);
      const message = find('[data-message]', form.closest('section')) ?? find('p[data-message]');
      act(find('[type=submit]', form), message, async () => {
        const answer = await send(`/debates/${id}/${action}`, fields);
        if (action === 'branches') return location.assign(`/debates/${answer.id}`);
        if (action === 'resume') return location.reload();
        form.reset();
        if (form.closest('details')) form.closest('details').open = false;
        message.textContent = action === 'resolution' ? 'Recorded.' : 'Said. The seats read it in the next phase.';
      });
    });
  }
  for (const button of findAll('[data-do]')) {
    button.addEventListener('click', () => act(button, find('.controls p[data-message]'), () => (
      send(`/debates/${id}/stop`, { conclude: button.dataset.do === 'conclude' }))));
  }
}

/** The readable part of an answer that is still being written: of JSON only the strings, without their keys. A reader who came
 * in the middle of JSON has seen no beginning, and reads on from the next field. */
function readable(text, isJson) {
  let json = text.replace(/^\s*(```\w*\s*)?/, '');
  if (!/^[{[]/.test(json)) {
    if (!isJson) return text;
    const key = json.search(/"\s*:/);
    if (key < 0) return '';
    json = `{"${json.slice(key)}`;
  }
  const open = [];
  let shown = '', isKey = false;
  for (let at = 0; at < json.length; at += 1) {
    const char = json[at];
    if (char === '{' || char === '[') { open.push(char); isKey = char === '{'; }
    else if (char === '}' || char === ']') { open.pop(); isKey = false; }
    else if (char === ',') isKey = open.at(-1) === '{';
    else if (char === ':') isKey = false;
    else if (char === '"') {
      let end = at + 1;
      while (end < json.length && json[end] !== '"') end += json[end] === '\\' ? 2 : 1;
      let words = json.slice(at + 1, end);
      try { words = JSON.parse(`"${words}"`); } catch { words = words.replace(/\\u?[0-9a-f]{0,3}$/i, '').replace(/\\n/g, '\n').replace(/\\(.)/g, '$1'); }
      if (!isKey && words) shown += (shown ? '\n\n' : '') + words;
      at = end;
    }
  }
  return shown;
}

/** Keeps the newest phase in sight until the reader scrolls somewhere else. */
function followedPhase() {
  let isFollowing = true;
  const isAtEnd = () => innerHeight + scrollY > document.documentElement.scrollHeight - 40;
  for (const kind of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
    addEventListener(kind, () => { isFollowing = isAtEnd(); }, { passive: true });
  }
  return () => {
    const newest = findAll('.seats .phase').at(-1);
    if (!isFollowing || !newest || find('.your-turn') || newest.getBoundingClientRect().top < innerHeight * 0.6) return;
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    scrollBy({ top: newest.getBoundingClientRect().top - innerHeight * 0.3, behavior: isCalm ? 'instant' : 'smooth' });
  };
}

function liveScreen(root) {
  const id = root.dataset.debate;
  const follow = followedPhase();
  const streams = new Map();
  const showStream = (ask) => {
    const words = find(`[data-ask="${ask}"] .stream`);
    const stream = streams.get(ask);
    if (!words || !stream) return;
    const isAtEnd = words.scrollHeight - words.scrollTop - words.clientHeight < 40;
    words.textContent = readable(stream.text, 'json' in words.dataset);
    if (isAtEnd) words.scrollTop = words.scrollHeight;
  };
  const refresh = throttled(150, async () => {
    const fresh = await fetchPage(`/debates/${id}/live`);
    const state = find('[data-state]', fresh)?.dataset;
    if (state && 'over' in state) return finish();
    if ((state?.state === 'interrupted') !== Boolean(find('form[data-action=resume]'))) return location.reload();
    const scrolled = new Map(findAll('[data-ask] .words:not(.stream)').map((words) => [words.parentElement.dataset.ask, words.scrollTop]));
    swapPart(fresh, 'status');
    swapPart(fresh, 'table');
    for (const [ask, top] of scrolled) {
      const words = find(`[data-ask="${ask}"] .words`);
      if (words) words.scrollTop = top;
    }
    // What a person is writing stays, as long as the same is asked.
    const [asked, asks] = [document, fresh].map((from) => find('[data-part="turn"]', from));
    if (asked.dataset.key !== asks.dataset.key) {
      asked.replaceWith(document.adoptNode(asks));
      bindForms();
    }
    streams.forEach((_, ask) => showStream(ask));
    follow();
  });
  const finish = async () => {
    events.close();
    const fresh = await fetchPage(`/debates/${id}`);
    document.title = fresh.title;
    find('main').replaceWith(document.adoptNode(find('main', fresh)));
    scrollTo({ top: 0 });
    find('main').focus();
    start();
  };
  const bindForms = () => findAll('form[data-answer]').forEach((form) => answerForm(form, id, refresh));
  const events = new EventSource(`${api}/debates/${id}/events?after=${root.dataset.after}`);
  events.addEventListener('record', (event) => {
    const { event: kind, ask } = JSON.parse(event.data);
    if (kind === 'replied' || kind === 'attempted') streams.delete(String(ask));
    refresh();
  });
  events.addEventListener('state', refresh);
  events.addEventListener('delta', (event) => {
    const { ask, attempt, text } = JSON.parse(event.data);
    const key = String(ask);
    const stream = streams.get(key);
    if (stream && stream.attempt === attempt) stream.text += text; else streams.set(key, { attempt, text });
    requestAnimationFrame(() => showStream(key));
  });
  addEventListener('pagehide', () => events.close());
  bindForms();
}

/** Reads a form that was made from a JSON Schema. `undefined` means that nothing was entered. */
function readValue(value) {
  const { kind } = value.dataset;
  const empty = 'nullable' in value.dataset ? null : undefined;
  if (kind === 'object') {
    const object = {};
    for (const field of findAll(':scope > .field', value)) {
      const entered = readValue(find(':scope > .value', field));
      const isRequired = 'required' in field.dataset;
      if (entered !== undefined && (entered !== null || isRequired)) object[field.dataset.field] = entered;
    }
    return isBlank(object) && empty === null ? null : object;
  }
  if (kind === 'list') {
    const entries = findAll(':scope > .entry', value).map((entry) => readValue(find(':scope > .value', entry)));
    const entered = entries.filter((entry) => !isBlank(entry));
    return entered.length === 0 && empty === null ? null : entered;
  }
  const text = find('input, select, textarea', value).value;
  if (text.trim() === '') return empty === null ? null : (kind === 'text' && value.closest('[data-required]') ? text.trim() : undefined);
  if (kind !== 'json') return text;
  try { return JSON.parse(text); } catch { throw new Error(`${find('span', value).textContent}: this is not JSON`); }
}

const isBlank = (value) => value === undefined || value === null || value === ''
  || (typeof value === 'object' && Object.values(value).every(isBlank));

function answerForm(form, id, refresh) {
  const message = find('[data-message]', form);
  const answer = (button, read) => act(button, message, async () => {
    await send(`/debates/${id}/asks/${form.dataset.answer}`, { value: read() });
    await refresh();
  });
  // A required field that belongs to an entry nobody began is no fault, so the server's check decides.
  form.noValidate = true;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const root = find('.fields', form);
    answer(find('[type=submit]', form), () => (
      'root' in root.dataset ? readValue(find(':scope > .value', root)) : find('textarea', root).value));
  });
  form.addEventListener('click', (event) => {
    const { dataset } = event.target;
    if ('pass' in dataset) answer(event.target, () => null);
    if ('add' in dataset) {
      const list = event.target.closest('fieldset');
      const entry = document.importNode(find(':scope > template', list).content, true);
      event.target.before(entry);
      findAll(':scope > .entry', list).at(-1).querySelector('input, select, textarea')?.focus();
    }
    if ('remove' in dataset) {
      const list = event.target.closest('fieldset');
      event.target.closest('.entry').remove();
      find(':scope > [data-add]', list).focus();
    }
  });
}

function newScreen(form) {
  const estimate = find('[data-estimate]');
  const message = find('.side [data-message]');
  const number = (value) => new Intl.NumberFormat('en').format(value);
  const range = ({ min, max }) => (min === max ? number(min) : `${number(min)} to ${number(max)}`);

  const request = () => {
    const body = { protocol: form.dataset.protocol };
    const question = form.elements.question.value.trim();
    if (question) body.question = question;
    const models = form.elements.models.value.split(/[\n,]/).map((name) => name.trim()).filter(Boolean);
    if (models.length) body.models = models;
    const filled = (selector) => findAll(selector, form).filter((input) => input.value.trim() !== '');
    const pairs = (selector, read) => Object.fromEntries(filled(selector).map((input) => [input.name, read(input)]));
    body.roles = pairs('[data-role]', (input) => input.value.trim());
    body.options = pairs('[data-option]', (input) => (input.type === 'number' ? Number(input.value) : input.value));
    body.limits = pairs('[data-limit]', (input) => Number(input.value));
    if (form.elements.seed.value !== '') body.seed = Number(form.elements.seed.value);
    body.files = findAll('.file', form).map((file) => {
      const [path, part, text] = ['path', 'part', 'text'].map((name) => find(`[name=${name}]`, file).value);
      return part ? { path, text, part } : { path, text };
    }).filter((file) => file.text.trim() !== '');
    return body;
  };
  const row = (name, value) => {
    const line = document.createElement('div');
    const [term, detail] = ['dt', 'dd'].map((tag) => document.createElement(tag));
    [term.textContent, detail.textContent] = [name, value];
    line.append(term, detail);
    return line;
  };
  const note = (text) => {
    const shown = document.createElement('p');
    shown.className = 'note';
    shown.textContent = text;
    estimate.replaceChildren(shown);
  };
  const showEstimate = throttled(500, async () => {
    try {
      const found = await send('/estimates', request());
      const list = document.createElement('dl');
      const price = found.usd === null ? 'unknown' : found.usd.max === 0 ? 'nothing' : `$${found.usd.min.toFixed(3)} to $${found.usd.max.toFixed(3)}`;
      list.append(row('Calls', range(found.calls)), row('Tokens in', range(found.input_tokens)), row('Tokens out', range(found.output_tokens)), row('Price', price));
      for (const seat of found.seats) list.append(row(seat.id, seat.model));
      estimate.replaceChildren(list);
    } catch (error) { note(error.message); }
  });
  const isWorthIt = () => form.elements.question.value.trim() !== '' || find('.file', form);
  const changed = () => { if (isWorthIt()) showEstimate(); };
  form.addEventListener('input', changed);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    act(find('.side [type=submit]'), message, async () => {
      const opened = await send('/debates', request());
      location.assign(`/debates/${opened.id}`);
    });
  });

  const addFile = (path, text) => {
    const file = document.importNode(find('template[data-file]', form).content, true);
    if (path) find('[name=path]', file).value = path;
    find('[name=text]', file).value = text;
    find('[data-files]', form).append(file);
    changed();
  };
  const addModel = (name) => {
    const { models } = form.elements;
    models.value = [...models.value.split('\n').filter((line) => line.trim()), name].join('\n');
    changed();
  };
  form.addEventListener('click', (event) => {
    const { dataset } = event.target;
    if ('addFile' in dataset) { addFile('', ''); findAll('.file textarea', form).at(-1).focus(); }
    if ('removeFile' in dataset) { event.target.closest('.file').remove(); find('[data-add-file]', form).focus(); changed(); }
    if ('model' in dataset) addModel(dataset.model);
  });
  form.addEventListener('change', async (event) => {
    if (!('pick' in event.target.dataset)) return;
    for (const file of event.target.files) addFile(file.name, await file.text());
    event.target.value = '';
  });
  // Another kind of debate: its parts of the form come from the server, and what was typed stays.
  document.addEventListener('click', async (event) => {
    const link = event.target.closest('.picker a');
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const fresh = await fetchPage(link.href);
    const question = form.elements.question.value;
    for (const part of ['picker', 'subject', 'roles', 'options']) swapPart(fresh, part);
    if (!find('.file', form)) swapPart(fresh, 'files');
    form.elements.question.value = question;
    form.dataset.protocol = link.dataset.protocol;
    history.replaceState(null, '', link.href);
    find('.picker [aria-current]').focus();
    changed();
  });
  probeModels();
}

/** Which providers answer, and what they have. */
async function probeModels() {
  const probed = find('[data-probed]');
  const known = find('#known-models');
  try {
    const models = await (await fetch(`${api}/models?probe=true`)).json();
    const offer = (name) => known.append(Object.assign(document.createElement('option'), { value: name }));
    for (const button of findAll('.models [data-model]')) offer(button.dataset.model);
    for (const { provider, reachable, key_accepted, models: names } of models.probed ?? []) {
      const entry = find(`[data-provider="${CSS.escape(provider)}"]`);
      if (!entry) continue;
      const reach = find('.reach', entry);
      const isReady = reachable && key_accepted !== false;
      reach.textContent = !reachable ? 'does not answer' : key_accepted === false ? 'refuses the key' : 'answers';
      reach.className = `reach ${isReady ? 'ready' : 'failed'}`;
      for (const name of names ?? []) {
        const full = `${provider}/${name}`;
        const button = Object.assign(document.createElement('button'), { type: 'button', className: 'model', textContent: full });
        button.dataset.model = full;
        const item = document.createElement('li');
        item.append(button);
        find('[data-list]', entry).append(item);
        offer(full);
      }
    }
    probed.textContent = 'Choose one to seat it.';
  } catch { probed.textContent = 'Which providers answer is not known.'; }
}

function start() {
  if (find('main.debates')) listScreen();
  const debate = find('[data-debate]');
  if (debate) debateActions(debate.dataset.debate);
  if (debate && 'live' in debate.dataset) liveScreen(debate);
  const form = find('#new-debate');
  if (form) newScreen(form);
}

start();

export { answerForm, readValue };
