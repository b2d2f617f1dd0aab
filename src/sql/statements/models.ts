import { takeFromQuery, takeQuery } from './clauses.js'
import type { LeadingWords, Cursor } from './cursor.js'
import { sameUsage, type Topic } from './forms.js'
import { takeIfExists, takeIfNotExists, takeModel, takeName, takeNames, takePart, nameFollows } from './names.js'
import type { OrderItem, StatementOf, TrainingClauses } from './statement.js'
import { importsFile, mayImport } from '../../catalogue/onnx-import.js'
import { takeSettings, takeWhole } from './values.js'

const takeOrder = (cursor: Cursor): OrderItem[] => {
  const items: OrderItem[] = []
  do {
    const column = takePart(cursor, 'a column')
    const direction = cursor.takeOneOf('ASC', 'DESC')
    if (cursor.takeWords('NULLS') && cursor.takeOneOf('FIRST', 'LAST') === undefined) cursor.fail()
    items.push({ column, descending: direction === 'DESC' })
  } while (cursor.takeSymbol(','))
  return items
}

/** Each clause by its first words, with its part of a training. */
const clauses: readonly (readonly [words: readonly string[], take: (cursor: Cursor) => Partial<TrainingClauses>])[] = [
  [['FROM'], (cursor) => ({ source: takeFromQuery(cursor) })],
  [['PREDICT'], (cursor) => ({ predict: takeNames(cursor, 'a column') })],
  [['ORDER', 'BY'], (cursor) => ({ orderBy: takeOrder(cursor) })],
  [['GROUP', 'BY'], (cursor) => ({ groupBy: takeNames(cursor, 'a column') })],
  [['WINDOW'], (cursor) => ({ window: takeWhole(cursor, 'a number of rows') })],
  [['HORIZON'], (cursor) => ({ horizon: takeWhole(cursor, 'a number of rows') })],
  [['USING'], (cursor) => ({ using: takeSettings(cursor) })],
]

/** The clauses after a model's name in any order, each at most once. */
const takeTraining = (cursor: Cursor): TrainingClauses => {
  let training: Partial<TrainingClauses> = {}
  for (;;) {
    const start = cursor.peek()
    const clause = clauses.find(([words]) => cursor.takeWords(...words))
    if (!clause) break
    const added = clause[1](cursor)
    if (Object.keys(added).some((key) => key in training)) cursor.refuse(start, `${clause[0].join(' ')} is given twice`)
    training = { ...training, ...added }
  }
  const { source = null, predict = [], orderBy = [], groupBy = [], window = null, horizon = null, using = {} } = training
  return { source, predict, orderBy, groupBy, window, horizon, using }
}

/** `CREATE [OR REPLACE] MODEL|PREDICTOR`, these words already taken. */
const takeCreateModel = (cursor: Cursor, { replace }: LeadingWords): StatementOf<'create_model'> => {
  const ifNotExists = takeIfNotExists(cursor)
  const target = takeName(cursor, 'a model')
  const training = takeTraining(cursor)
  // A model from a file needs no PREDICT: its prediction has a default name.
  const { engine } = training.using
  if (training.predict.length === 0 && !(training.source === null ? mayImport(engine) : importsFile(engine))) {
    cursor.expect('PREDICT')
    cursor.fail()
  }
  return { kind: 'create_model', target, ifNotExists, replace, training }
}

/** `RETRAIN [MODEL] m …`, `FINETUNE [MODEL] m FROM …`; a model may have the name "model". */
const takeRetrain = (cursor: Cursor, verb: 'retrain' | 'finetune'): StatementOf<'retrain_model'> => {
  if (nameFollows(cursor, 1)) cursor.takeOneOf('MODEL', 'PREDICTOR')
  const target = takeModel(cursor)
  const training = takeTraining(cursor)
  if (verb === 'finetune' && training.source === null) {
    cursor.expect('FROM')
    cursor.fail()
  }
  return { kind: 'retrain_model', verb, target, training }
}

/** `CANCEL TRAINING [p.]m[.n]`, the first word already taken. */
const takeCancel = (cursor: Cursor): StatementOf<'cancel_training'> => {
  cursor.needWords('TRAINING')
  return { kind: 'cancel_training', target: takeModel(cursor) }
}

/** `DROP MODEL [IF EXISTS] [project.]model[.version]`, the words before IF already taken. */
const takeDropModel = (cursor: Cursor): StatementOf<'drop_model'> => {
  const ifExists = takeIfExists(cursor)
  return { kind: 'drop_model', target: takeModel(cursor), ifExists }
}

/** `ALTER MODEL [p.]m SET recording = 'off'`, the words `ALTER MODEL` already taken. */
const takeAlterModel = (cursor: Cursor): StatementOf<'alter_model'> => {
  const target = takeName(cursor, 'a model')
  if (cursor.takeOneOf('SET', 'USING') === undefined) cursor.fail()
  return { kind: 'alter_model', target, set: takeSettings(cursor) }
}

/** `SET active [p.]m.n`, the words already taken. */
export const takeActivate = (cursor: Cursor): StatementOf<'activate_model'> => {
  const start = cursor.peek()
  const { project, name, version } = takeModel(cursor)
  if (version === null) cursor.refuse(start, 'the version is missing: [project.]model.version')
  return { kind: 'activate_model', target: { project, name, version } }
}

/** `EVALUATE metric FROM (SELECT …) [USING …]` */
const takeEvaluate = (cursor: Cursor): StatementOf<'evaluate'> => {
  const metric = takePart(cursor, 'a metric')
  cursor.needWords('FROM')
  const query = takeQuery(cursor)
  return { kind: 'evaluate', metric, query, using: cursor.takeWords('USING') ? takeSettings(cursor) : {} }
}

/** `CREATE ML_ENGINE [IF NOT EXISTS] e FROM handler [USING …]` */
const takeCreateEngine = (cursor: Cursor): StatementOf<'create_ml_engine'> => {
  const ifNotExists = takeIfNotExists(cursor)
  const name = takePart(cursor, 'an engine')
  cursor.needWords('FROM')
  const handler = takePart(cursor, 'a handler')
  return { kind: 'create_ml_engine', name, handler, ifNotExists, using: cursor.takeWords('USING') ? takeSettings(cursor) : {} }
}

/** `DROP ML_ENGINE [IF EXISTS] engine`, the words before IF already taken. */
const takeDropEngine = (cursor: Cursor): StatementOf<'drop_ml_engine'> => {
  const ifExists = takeIfExists(cursor)
  return { kind: 'drop_ml_engine', name: takePart(cursor, 'an engine'), ifExists }
}

const nouns = ['MODEL', 'PREDICTOR']

export const models = {
  create_model: {
    effect: 'writes',
    forms: [
      {
        verb: 'CREATE',
        orReplace: true,
        nouns: sameUsage(
          nouns,
          (noun) => `CREATE ${noun} [IF NOT EXISTS] [project.]name FROM database (SELECT …) PREDICT column [USING key = value, …]`,
        ),
        take: takeCreateModel,
      },
    ],
  },
  retrain_model: {
    effect: 'writes',
    forms: [
      {
        verb: 'RETRAIN',
        usages: { RETRAIN: 'RETRAIN [project.]model [FROM database (SELECT …)] [PREDICT column] [USING key = value, …]' },
        take: (cursor) => takeRetrain(cursor, 'retrain'),
      },
      {
        verb: 'FINETUNE',
        usages: { FINETUNE: 'FINETUNE [project.]model FROM database (SELECT …) [USING key = value, …]' },
        take: (cursor) => takeRetrain(cursor, 'finetune'),
      },
    ],
  },
  cancel_training: {
    effect: 'writes',
    forms: [{ verb: 'CANCEL', usages: { CANCEL: 'CANCEL TRAINING [project.]model[.version]' }, take: takeCancel }],
  },
  alter_model: {
    effect: 'writes',
    forms: [
      {
        verb: 'ALTER',
        nouns: { MODEL: "ALTER MODEL [project.]name SET recording = 'all' | 'off'", PREDICTOR: null },
        take: takeAlterModel,
      },
    ],
  },
  drop_model: {
    effect: 'writes',
    forms: [{ verb: 'DROP', nouns: sameUsage(nouns, (noun) => `DROP ${noun} [IF EXISTS] [project.]name[.version]`), take: takeDropModel }],
  },
  evaluate: {
    effect: 'reads',
    forms: [
      {
        verb: 'EVALUATE',
        usages: { EVALUATE: 'EVALUATE metric FROM (SELECT … AS actual, … AS prediction)' },
        take: takeEvaluate,
      },
    ],
  },
} satisfies Topic

export const engines = {
  create_ml_engine: {
    effect: 'writes',
    forms: [
      {
        verb: 'CREATE',
        nouns: { ML_ENGINE: 'CREATE ML_ENGINE [IF NOT EXISTS] name FROM handler [USING key = value, …]', 'ML ENGINE': null },
        take: takeCreateEngine,
      },
    ],
  },
  drop_ml_engine: {
    effect: 'writes',
    forms: [{ verb: 'DROP', nouns: { ML_ENGINE: 'DROP ML_ENGINE [IF EXISTS] name', 'ML ENGINE': null }, take: takeDropEngine }],
  },
} satisfies Topic
