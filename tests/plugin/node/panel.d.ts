/** What `GET /api/panel` answers, and what the panel's modules hand each other. */

type PanelId = string | number;
type PanelVerdict = "same" | "different";
type PanelChild = Node | string | null | undefined;
/** Makes an element; children that are strings become text, never markup. */
type PanelBuilder = (
  tag: string,
  attributes?: Record<string, unknown> | null,
  ...children: PanelChild[]
) => HTMLElement & { disabled: boolean; value: string };

interface PanelRater {
  id: PanelId;
  name: string;
  n_texts?: number;
}

interface PanelDecision {
  id: number;
  texts: [string, string];
  verdict: PanelVerdict;
  who?: string;
  when?: string | null;
}

interface PanelPair {
  raters: PanelId[];
  equivalence?: number;
  decision?: PanelDecision | null;
}

interface PanelRegion {
  label?: string;
  where?: string;
  quote?: string;
  /** Left, top, width and height in percent. */
  box?: [number, number, number, number] | null;
  /** Of the image's width to its height. */
  ratio?: number | null;
  annotation?: number | null;
  region?: string | null;
}

interface PanelMatch {
  regions?: Record<PanelId, PanelRegion | null>;
  texts: Record<PanelId, string>;
  equivalence: number;
  relation?: string | null;
  broader?: PanelId | null;
  pairs?: PanelPair[];
  decision?: PanelDecision | null;
}

interface PanelReason {
  kind: string;
  name: string;
  also?: string[];
  words: string;
  raters: PanelId[];
  texts: string[];
  equivalence: number;
  can_be_ignored?: boolean;
}

interface PanelProposal {
  id: number;
  attribute: string;
  task: PanelId;
  who?: string;
  when?: string | null;
}

interface PanelHeadline {
  value: number | null;
  sentences: string[];
  references?: string | null;
}

interface PanelAgreed {
  id: number;
  texts: string[];
  who?: string;
  when?: string | null;
  edited?: boolean | null;
  answers_changed?: boolean;
}

/** One free-text field of a task. */
interface PanelField {
  name?: string;
  control?: string;
  agreement?: number | null;
  raters?: PanelRater[];
  matrix?: (number | null)[][];
  matches?: PanelMatch[];
  unmatched?: Record<PanelId, string[]>;
  suggestion?: string[];
  reasons?: PanelReason[];
  written?: Record<PanelId, string[]>;
  excluded?: { rater: PanelId; name?: string; reason: string }[];
  decisions?: PanelDecision[];
  agreed?: PanelAgreed | null;
  verdict?: string;
  can_take?: boolean;
  alone_regions?: Record<PanelId, (PanelRegion | null)[]>;
  shows?: { kind?: string; address?: string | null };
  headline?: PanelHeadline | null;
}

/** A field that is no text, such as choices. */
interface PanelOtherField {
  name: string;
  kind: string;
  agreement: number | null;
  agreed: string[] | null;
  agreed_by: "median" | "majority";
  headline?: PanelHeadline | null;
  raters: PanelRater[];
  values: { values: string[]; raters: PanelId[] }[];
}

interface PanelTask {
  id: PanelId;
  agreement?: number | null;
  word?: string;
  /** What the score is made of, unless it is the mean of the texts. */
  of?: string | null;
  chance?: number | null;
  rank?: number | null;
  n_ranked?: number | null;
  n_raters?: number;
}

interface PanelPayload extends PanelField {
  status: "ready" | "pending" | "blind" | "none" | "unavailable";
  message?: string;
  project?: { id: PanelId; title?: string; coefficient?: PanelHeadline | null };
  task?: PanelTask | null;
  controls?: PanelField[];
  other_fields?: PanelOtherField[];
  threshold?: number;
  misfits?: string[];
  provenance?: Record<string, any>;
  viewer?: { can_decide?: boolean; can_take?: boolean; can_mark?: boolean };
  links?: Record<string, string>;
  uncounted?: PanelProposal[];
  review?: { state?: string; who?: string; note?: string };
  job?: { phase: string; done: number; total: number } | null;
  follow?: { href: string; text: string };
  how_to_accept?: string | null;
  [more: string]: any;
}

type PanelSuggestion = { control?: string; texts: string[] };

interface PanelActions {
  decide?(...decisions: { pairs: string[][]; verdict: PanelVerdict }[]): void;
  undo?(decision: number): void;
  accept?(suggestions: PanelSuggestion[]): void;
  agree?(suggestions: PanelSuggestion[]): void;
  disagree?(answer: number): void;
  uncount?(attribute: string): void;
  count?(proposal: number): void;
  mark?(): void;
  unmark?(): void;
  sendBack?(note: string): void;
  /** Takes back the last act. */
  back?(): boolean;
  region?(annotation: number, region: string): void;
  next?(): void;
  [name: string]: ((...given: any[]) => void) | undefined;
}

interface PanelContext {
  h: PanelBuilder;
  payload: PanelPayload;
  actions: PanelActions;
  /** Name of a rater. */
  name(id: PanelId): string;
  /** Begins the names of a field's elements where a task has several fields. */
  part?: string;
  deciding?: boolean;
  short?: Map<string, string>;
  /** Name of the field. */
  control?: string;
  /** Whether it is the last field with a suggestion, below which the buttons for all of them are. */
  isLast?: boolean;
  heading?: boolean;
}

/** Where the panel is. */
interface PanelSpot {
  project?: string;
  task?: string;
  key?: string;
  labeling: boolean;
  door: "same-origin" | "query" | "referrer" | "plugin";
}
