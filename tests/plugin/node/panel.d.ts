/** What the panel's files share, for `tsc`; payloads are as `GET /api/panel` answers. */

type PanelId = string | number;
type PanelVerdict = "same" | "different" | "none";
type PanelBuilder = (tag: string, attributes: Record<string, unknown>, ...children: any[]) => any;

interface PanelDecision {
  id: number;
  texts: string[];
  verdict: "same" | "different";
  cause: string | null;
  who: string;
  when: string | null;
}

interface PanelPair {
  texts: string[];
  decision: PanelDecision | null;
  specific: string | null;
}

interface PanelRegion {
  label?: string;
  where?: string;
  quote?: string;
  box?: number[];
  ratio?: number;
  annotation?: number;
  region?: string;
}

interface PanelCard {
  texts: { text: string; raters: PanelId[] }[];
  has: PanelId[];
  lacks: PanelId[];
  why: { name: string; text: string } | null;
  pairs: PanelPair[];
  regions?: [PanelId, PanelRegion | null][];
}

interface PanelTextField {
  name: string;
  title: string;
  kind: "text";
  cards: PanelCard[];
  suggestion: string[];
  empty: PanelId[];
  answers: Record<string, string[]>;
  written: Record<string, string[]>;
  shows?: { kind: string; address: string | null };
}

interface PanelValueField {
  name: string;
  title: string;
  kind: string;
  values: { values: string[]; raters: PanelId[] }[];
  suggestion: string[] | null;
  suggested_by: string;
}

interface PanelPayload {
  status: string;
  message?: string;
  sentence?: string;
  warnings?: string[];
  project?: { id: PanelId; title?: string };
  task?: { id: PanelId; agreement?: number };
  raters?: { id: PanelId; name: string }[];
  fields?: any[];
  changed_after_return?: PanelId[];
  excluded?: { name: string; reason: string }[];
  agreed?: { fields: Record<string, string[]>; who: string; when: string; answers_changed: boolean } | null;
  review?: { state: string; who?: string; when?: string; note?: string; answered_again?: boolean; waits?: string };
  queue?: { done: number; total: number };
  causes?: Record<string, string>;
  viewer?: { can_decide: boolean; can_agree: boolean; name: string; role: string };
  links?: Record<string, string>;
  job?: { phase: string; done: number; total: number } | null;
  texts?: string[];
  note?: string;
  question?: (() => void) | null;
}

interface PanelActions {
  decide?: (texts: string[], verdict: PanelVerdict, cause?: string | null) => void;
  accept?: () => void;
  done?: () => void;
  reopen?: () => void;
  sendBack?: (note: string) => void;
  next?: () => void;
  undoLast?: () => void;
  region?: (annotation: number, region: string) => void;
}

interface PanelChoice {
  texts(name: string): string[];
  isEmpty(name: string): boolean;
  toggle(name: string, text: string): void;
  take(name: string, texts: string[] | null): void;
  fields(): Record<string, string[]> | null;
}

interface PanelContext {
  h: PanelBuilder;
  payload: PanelPayload;
  actions: PanelActions;
  choice: PanelChoice;
  name: (id: PanelId) => string;
  canUndo: boolean;
}
