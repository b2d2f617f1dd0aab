import { limits } from '../../src/basics/limits.js'
import type { Subject } from '../../src/erasure/plan/subject-plan.js'
import { send, type Target } from '../harness/harness.js'
import { characters, json, largeName, type Body, type Ids } from './body.js'
import { predictionId } from './prepare.js'

const project = 'mindsdb'

/** The largest target of each kind of erasure. The last one is all that the others left. */
const subjects: Readonly<Record<Subject['what'], (ids: Ids) => unknown>> = {
  prediction: ({ prediction }) => Number(prediction),
  request: () => predictionId,
  answer: ({ answer }) => answer,
  conversation: ({ conversation }) => conversation,
  file: () => ({ name: 'cars' }),
  matrix: () => ({ project, model: 'cars_model', version: 1 }),
  secrets: () => ({ project, kind: 'skill', name: largeName('skill', 'secrets') }),
  documents: () => ({ project, knowledge_base: 'documents' }),
  before: () => new Date().toISOString(),
}

const writers = 64

/** Records predictions: a few of many rows, and many of one row. */
const predictAgain = async (target: Target, share: number): Promise<void> => {
  const predict = (count: number) =>
    send(
      target,
      'POST',
      `/api/projects/${project}/models/origin_model/predict`,
      Array.from({ length: count }, (_, n) => ({ Horsepower: n % 200 })),
    )
  for (let n = 0; n < 5; n++) await predict(Math.ceil(limits.predictMaxRows * share))
  let left = Math.ceil(2_000 * share)
  const write = async () => {
    while (left-- > 0) await predict(1)
  }
  await Promise.all(Array.from({ length: writers }, write))
}

/** Erasures: their plans first, because they change nothing. */
export const erasures: readonly Body[] = [
  json('the plan for everything so far', () => `{"before":"${new Date().toISOString()}","dry_run":true}`),
  json('an unknown request', (share) => `{"request":"${characters('a')(share / 2)}"}`),
  ...Object.entries(subjects).map(([what, of]): Body => ({
    ...json(what, (_, ids) => JSON.stringify({ [what]: of(ids), shared: true })),
    // An erasure continues after its client has left.
    patienceMs: 60_000,
    ...(what === 'before' && { refill: predictAgain }),
  })),
]
