import { logStream } from '../../../events/records/log.js'
import { sha256Hex } from '../../../events/stored/chain.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { payloadsOf } from '../../../events/catalogue/references.js'
import { Ledger } from '../../../src/commands/ledger.js'
import { isProblem } from '../../../src/basics/errors.js'
import { Random } from '../../../src/models/numerics/random.js'
import { PredictionRecorder } from '../../../src/models/serving/prediction-recorder.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { Vault } from '../../../src/vault/vault.js'
import { origin, testKey, writes } from './log.js'

export { Random }

type Command = Parameters<Ledger['execute']>[0]

export const pick = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)]!

const projects = ['shop', 'Größe', 'lab']
const bytesOf = (n: number): Buffer => Buffer.from(`content ${n}`)

/** All blobs that a log of these tests may refer to. */
export const blobHash = async (hash: string): Promise<string | undefined> => hash

/** A random command. Many are refused, as with real clients. */
const draw = (random: Random): Command => {
  const n = random.below(8)
  const project = pick(random, projects)
  const params = {
    tables: [`t${n}`],
    n: random.below(100),
    note: 'line\nbreak \u2028 猫',
    ...(n < 4 && { api_key: `sk-${random.next()}` }),
  }
  const content = { content: sha256Hex(bytesOf(n)), bytes: 9, row_count: 1, columns: [], original_name: null }
  const request = { engine: 'lightwood', target: 'y', database: 'files', query: 'SELECT 1', using: {}, seed: n, activate: true, tag: null }
  const agent = { model_name: null, provider: null, params: {} }
  const commands: Command[] = [
    { type: 'CreateProject', data: { project } },
    { type: 'CreateSkill', data: { project, skill: `s${n}`, type: 'sql', params } },
    { type: 'CreateSkill', data: { project, skill: `s${n}`, type: 'sql', params } },
    { type: 'UpdateSkill', data: { project, skill: `s${n}`, params } },
    { type: 'UpdateSkill', data: { project, skill: `s${n}`, name: `s${n + 20}`, params } },
    { type: 'DeleteSkill', data: { project, skill: `s${n}` } },
    { type: 'CreateAgent', data: { project, agent: `a${n}`, ...agent, skills: [{ name: `s${n}`, params: {} }] } },
    { type: 'CreateAgent', data: { project, agent: `a${n}`, ...agent, skills: [{ name: `s${n}`, params: {} }] } },
    { type: 'CreateAgent', data: { project, agent: `a${n}`, ...agent, skills: [{ name: `s${n}`, params: {} }] } },
    { type: 'DeleteAgent', data: { project, agent: `a${n}` } },
    { type: 'CreateView', data: { project, view: `v${n}`, query: `SELECT ${n}`, database: 'files' } },
    { type: 'DeleteView', data: { project, view: `v${n}` } },
    { type: 'CreateFile', data: { file: `f${n}`, content } },
    { type: 'DeleteFile', data: { file: `f${n}` } },
    { type: 'CreateDatabase', data: { database: `d${n}`, engine: 'postgres', parameters: { password: `p${random.next()}` } } },
    { type: 'CreateModel', data: { project, model: `m${n}`, request } },
    { type: 'CreateEngine', data: { engine: `e${n}`, handler: 'lightwood', parameters: {} } },
  ]
  return pick(random, commands)
}

/**
 * A log from real commands, which a seed determines: projects, skills with secrets, agents that use them, models with trainings and
 * predictions, files, erasures. `during` is called in between, and at the end.
 */
export const writeHonestLog = async (
  file: string,
  seed: number,
  commands: number,
  during: (log: SqliteLog) => Promise<void> = async () => undefined,
): Promise<void> => {
  const random = new Random(seed)
  const vault = new Vault(testKey)
  const log = new SqliteLog({ file, vault, pragmas: ['synchronous = OFF'] })
  const ledger = new Ledger(log, vault)
  const recorder = new PredictionRecorder(ledger, log)
  const models: string[] = []
  const carryOut = async (command: Command) => {
    const outcome = await ledger.execute(command, { ...origin, request: `r${random.below(1_000)}` })
    if (command.type !== 'CreateModel' || outcome.stream === null) return
    const where = { stream: outcome.stream as never, version: 1 }
    await ledger.execute({ type: 'StartTraining', data: where }, origin)
    const [artefact, matrix] = [sha256Hex(bytesOf(1)), sha256Hex(bytesOf(2))]
    const result = { version: 1, artefact, matrix, read_at: 1, rows: 1, accuracy: 0.5, report: {}, runtime: {}, seconds: 1 }
    await ledger.execute({ type: 'CompleteTraining', data: { ...where, result } }, origin)
    models.push(outcome.stream)
  }
  const serve = async () => {
    const rows = [{ input: { a: random.below(9) }, output: { value: random.below(9) } }]
    if (models.length > 0) await recorder.served({ model: pick(random, models) as never, version: 1, origin, rows, readAt: 1 })
  }
  for (const project of projects) await carryOut({ type: 'CreateProject', data: { project } })
  for (let i = 0; i < commands; i++) {
    // Refusals are expected.
    await (random.below(4) === 0 ? serve() : carryOut(draw(random))).catch((error: unknown) => {
      if (!isProblem(error)) throw error
    })
    if (random.below(60) === 0) await eraseOne(log, random)
    if (i % 50 === 49) await during(log)
  }
  await during(log)
  await log.close()
}

const eraseOne = async (log: SqliteLog, random: Random): Promise<void> => {
  const events = (await log.readAll(0, 10_000)).map(({ text }) => parseEnvelope(text))
  const hashes = events.flatMap(({ type, data }) => payloadsOf(type, data))
  if (hashes.length === 0) return
  const data = {
    what: 'secrets' as const,
    subject: 'one',
    reason: null,
    payloads: [{ hash: pick(random, hashes), replacement: null }],
    blobs: [],
  }
  await log.submit(writes({ stream: logStream, event: { type: 'DataErased', data } }))
}
