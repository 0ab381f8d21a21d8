/** The pairs of an audit, shown one at a time; each judgment is saved as soon as it is made. */
import { KEYS, WORDS, chart, line, widthSentence } from "./audit_words.js";
import { byId, post, remove, select, targetOf } from "./pages.js";

export class Judging {
  #index = 0; // of the pair that is shown
  #history = []; // indices of the judged pairs, the last judgment last
  #times = []; // when this judge judged on this page, in milliseconds
  #saving = Promise.resolve();

  /**
   * @param {object} page
   * @param {() => void} page.show shows this part of the page
   * @param {() => void} page.stop shows the part for a judge who stops, or has judged every pair
   * @param {(text: string) => void} page.say shows a message above the page
   */
  constructor(page) {
    this.page = page;
    this.audit = null;
    this.judge = "";
    this.pairs = [];
    const buttons = { undo: this.undo, back: this.back, forward: this.forward, change: this.change, stop: page.stop };
    for (const [id, act] of Object.entries(buttons)) byId(id).addEventListener("click", () => act.call(this));
    for (const button of select("[data-verdict]", byId("verdicts"))) {
      button.addEventListener("click", () => this.decide(button.dataset.verdict));
    }
    document.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** @param {any} audit as `GET /api/audit/ID` answers it */
  load(audit) {
    this.audit = audit;
    this.judge = audit.judge;
    this.pairs = audit.pairs;
    this.#history = this.pairs.filter((pair) => pair.verdict).map((pair) => pair.row);
  }

  /** Resolves once every judgment is saved, or refused. */
  get saved() {
    return this.#saving;
  }

  /** Number of the first pair without a judgment; −1 if every pair is judged. */
  get firstOpen() {
    return this.pairs.findIndex((pair) => !pair.verdict);
  }

  /** @param {number} index of the pair to judge */
  turnTo(index) {
    this.#index = Math.max(0, index);
    this.#draw();
    this.page.show();
    byId("first").focus();
  }

  // --- what the judge does ------------------------------------------------------------------------------------------

  /**
   * Judge the shown pair; a new verdict replaces an earlier one, and judging goes on at the next open pair.
   *
   * @param {string} verdict
   */
  decide(verdict) {
    const pair = this.pairs[this.#index];
    const earlier = { verdict: pair.verdict, position: this.#history.indexOf(pair.row) };
    pair.verdict = verdict;
    if (earlier.position < 0) this.#times.push(Date.now());
    else this.#history.splice(earlier.position, 1);
    this.#history.push(pair.row);
    const takeBack = () => {
      pair.verdict = earlier.verdict;
      this.#history.splice(this.#history.indexOf(pair.row), 1);
      if (earlier.position >= 0) this.#history.splice(earlier.position, 0, pair.row);
      this.#index = pair.row;
      this.page.show();
    };
    const { judge } = this;
    this.#save(() => post(this.#address, { judge, rows: [pair.row], verdict }), takeBack);
    this.#goOn();
  }

  undo() {
    if (!this.#history.length) return;
    const pair = this.pairs[this.#history.pop()];
    const { verdict } = pair;
    pair.verdict = null;
    this.#index = pair.row;
    this.#draw();
    const { judge } = this;
    this.#save(
      () => remove(this.#address, { judge, rows: pair.row }),
      () => {
        pair.verdict = verdict;
        this.#history.push(pair.row);
      },
    );
  }

  back() {
    this.#index = Math.max(0, this.#index - 1);
    this.#draw();
  }

  forward() {
    if (!this.pairs[this.#index].verdict) return;
    this.#index = Math.min(this.pairs.length - 1, this.#index + 1);
    this.#draw();
  }

  /** Show the pair of the last judgment, to change it. */
  change() {
    if (!this.#history.length) return;
    this.#index = this.#history.at(-1);
    this.#draw();
    byId("first").focus();
  }

  #onKey(event) {
    if (byId("judging").hidden || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (targetOf(event).closest("input, textarea")) return;
    const verdict = KEYS[event.key.toLowerCase()];
    const act = { Backspace: this.undo, ArrowLeft: this.back, ArrowRight: this.forward }[event.key];
    if (!verdict && !act) return;
    event.preventDefault();
    if (verdict) this.decide(verdict);
    else act.call(this);
  }

  // --- saving and drawing -------------------------------------------------------------------------------------------

  get #address() {
    return `api/audit/${this.audit.id}/judgments`;
  }

  /** Show the next pair without a judgment; after the last one, what the judge did. */
  #goOn() {
    const following = this.pairs.findIndex((pair, index) => index > this.#index && !pair.verdict);
    const open = following >= 0 ? following : this.firstOpen;
    if (open >= 0) this.#index = open;
    this.#draw();
    if (open >= 0) {
      byId("first").focus();
      return;
    }
    byId("judging").hidden = true; // no key may judge the last pair again while it is saved
    this.#saving.then(() => {
      if (this.firstOpen < 0) this.page.stop();
    });
  }

  /**
   * Save one judgment after the other.
   *
   * @param {() => Promise<any>} request
   * @param {() => void} takeBack undoes the change on the page if the request fails
   */
  #save(request, takeBack) {
    this.#saving = this.#saving.then(request).then(
      (answer) => {
        this.audit = { ...this.audit, ...answer };
        this.#drawWidths();
        this.page.say("");
      },
      (error) => {
        takeBack();
        this.#draw();
        this.page.say(`Not saved: ${error.message} Please judge this pair again.`);
      },
    );
  }

  #draw() {
    this.#drawWidths();
    const { pairs } = this;
    const pair = pairs[this.#index];
    const nJudged = pairs.filter(({ verdict }) => verdict).length;
    byId("first").textContent = pair.texts[0];
    byId("second").textContent = pair.texts[1];
    byId("progress").max = pairs.length;
    byId("progress").value = nJudged;
    byId("count").textContent = `pair ${this.#index + 1} of ${pairs.length} · ${nJudged} judged`;
    for (const button of select("[data-verdict]", byId("verdicts"))) {
      button.setAttribute("aria-pressed", String(button.dataset.verdict === pair.verdict));
    }
    byId("undo").disabled = !this.#history.length;
    byId("back").disabled = this.#index === 0;
    byId("forward").disabled = this.#index === pairs.length - 1 || !pair.verdict;
    byId("stop").textContent = nJudged === pairs.length ? "Done" : "Stop here";
    this.#drawPrevious(pairs[this.#history.at(-1)], pair);
  }

  #drawPrevious(previous, current) {
    byId("previous").hidden = !previous || previous === current;
    if (!previous) return;
    byId("previous-texts").textContent = `“${previous.texts[0]}” – “${previous.texts[1]}”`;
    byId("previous-verdict").textContent = WORDS[previous.verdict];
  }

  /** The widths of the interval so far, and what narrows it further. */
  #drawWidths() {
    const looks = (this.audit.looks ?? [])
      .filter(({ ci95 }) => ci95)
      .map((look) => ({ ...look, width: look.ci95[1] - look.ci95[0] }));
    const last = looks.at(-1);
    const target = byId("begin").elements.width.value;
    const sentence = () => line(widthSentence(last, target, this.pairs.length, this.#times));
    byId("narrowing").replaceChildren(...(last ? [chart(looks, Number(target)), sentence()] : []));
  }
}
