/** What the panel uses of Label Studio 1.23.2's own page. */

interface LabelStudioTask {
  id: number | string;
}

interface LabelStudioRegion {
  id: string;
  cleanId?: string;
}

interface LabelStudioAnnotation {
  id: string;
  pk?: string;
  draftId?: number | string;
  regionStore?: { regions: LabelStudioRegion[] };
  selectArea?(region: LabelStudioRegion): void;
}

interface LabelStudioAnnotations {
  annotations: LabelStudioAnnotation[];
  selected?: LabelStudioAnnotation;
  selectAnnotation(id: string): void;
}

interface LabelStudioStore {
  task?: LabelStudioTask;
  annotationStore?: LabelStudioAnnotations;
}

interface DataManagerTask extends LabelStudioTask {
  isSelected: boolean;
}

interface DataManagerTasks {
  list: DataManagerTask[];
  hasNextPage: boolean;
  fetch(options: { interaction: "scroll" }): Promise<void>;
}

interface Window {
  Htx?: LabelStudioStore;
  dataManager?: { store?: { taskStore: DataManagerTasks; startLabeling(task: DataManagerTask): void } };
}

/** The form in which a plugin of the Enterprise edition runs. */
declare const LSI: { task?: LabelStudioTask };
