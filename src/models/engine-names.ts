/** What is said of an engine where engines are named; what it does is its module's (`engine.ts`). */
export type EngineName = { name: string; title: string; about: string; standsFor?: string }

/** The engine of a statement that names none. */
export const defaultEngine = 'auto'

/** The engines by the names that users write, in the order in which they are shown. */
export const engineNames: readonly EngineName[] = [
  {
    name: defaultEngine,
    title: 'Automatic',
    about:
      'Boosted trees, a linear model or a blend of both, whichever predicts best out of fold. The engine of a statement that names none.',
  },
  { name: 'boosted_trees', title: 'Boosted trees', about: 'Gradient boosted trees alone.' },
  { name: 'linear', title: 'Linear model', about: 'Ridge regression for numbers, logistic regression for classes, alone.' },
  {
    name: 'forecast',
    title: 'Forecast',
    about: 'Series: exponential smoothing, Theta or their median, picked for each series by its own past. The engine of ORDER BY.',
  },
  {
    name: 'onnx',
    title: 'ONNX',
    about: 'Imports a model that was trained elsewhere: an uploaded ONNX file.',
  },
  {
    name: 'constant',
    title: 'Constant',
    about: 'The mean or the share of each class, whatever the row: what another engine must beat to have learned anything.',
  },
  {
    name: 'lightwood',
    title: 'Automatic',
    standsFor: defaultEngine,
    about: 'Stands for auto: the name that existing statements use. Its models are those of auto.',
  },
]

/** Whether a name (compared without case) is one that an engine has by itself. */
export const isEngineName = (name: string): boolean => engineNames.some((known) => known.name === name.toLowerCase())
