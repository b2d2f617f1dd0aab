import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foldName } from '../../../events/common.js'
import { limits } from '../../basics/limits.js'
import { importItems, type ItemOutcome } from '../../import/import-items.js'
import { Client } from '../../import/client.js'
import { planImport } from '../../import/import-plan.js'
import { readAbsent, readInventory } from '../../import/inventory.js'
import { openOldService } from '../../import/old-service.js'
import type { Item } from '../../import/items.js'
import { ConfigError } from '../../setup/config.js'
import { withServer, type CommandConfig, type Server } from '../access/server.js'
import type { Screen } from '../terminal/output.js'
import { tableText } from '../terminal/table-text.js'
import { withoutControls } from '../terminal/text-width.js'

type ImportOptions = {
  /** The address of the old service. */
  from: string
  /** The environment, which may have `IMPORT_TOKEN`, or `IMPORT_USERNAME` and `IMPORT_PASSWORD`. */
  env: NodeJS.ProcessEnv
  /** Whether the import writes; otherwise it only shows the plan. */
  apply: boolean
  train: boolean
  /** The projects to import; all if empty. */
  projects: readonly string[]
}

type Report = { plan: readonly Item[]; outcomes: ReadonlyMap<Item, ItemOutcome>; unread: readonly string[]; apply: boolean }

const nameOf = ({ project, name }: Item): string => (project === null ? name : `${project}.${name}`)

const whatOf = (item: Item, { outcomes, apply }: Report): string => {
  if (item.fate.is !== 'create' || !apply) return item.fate.is
  return outcomes.get(item)?.failed === undefined ? 'created' : 'FAILED'
}

/** The notes below the table: everything that needs more than one word. */
const notesOf = ({ plan, outcomes }: Report): string[] =>
  plan.flatMap((item) => {
    const outcome = outcomes.get(item)
    const notes = outcome?.failed === undefined ? [...item.notes, ...(outcome?.notes ?? [])] : [outcome.failed]
    return notes.map((note) => `${item.kind} ${nameOf(item)}: ${note}`)
  })

const summaryOf = (report: Report): string => {
  const { plan, unread, apply } = report
  const words = plan.map((item) => whatOf(item, report))
  const counts = [...new Set(words)].map((word) => `${words.filter((one) => one === word).length} ${word}`)
  const said = [...counts, ...(unread.length > 0 ? [`${unread.length} UNREAD`] : [])].join(', ')
  return apply || !words.includes('create') ? `${said}.` : `${said}. Nothing was written: --apply makes what is missing.`
}

const show = (report: Report, out: Screen): void => {
  const rows = report.plan.map((item) => [item.kind, nameOf(item), whatOf(item, report)])
  for (const line of tableText(['KIND', 'NAME', 'WHAT'], rows, out.width)) out.line(line)
  out.line('')
  for (const note of notesOf(report)) out.line(`- ${withoutControls(note)}`)
  for (const line of report.unread) out.error(withoutControls(`could not be read: ${line}`))
  out.line(withoutControls(summaryOf(report)))
}

/** An empty variable counts as not set. */
const credentialsIn = (env: NodeJS.ProcessEnv) => ({
  token: env['IMPORT_TOKEN'] || undefined,
  username: env['IMPORT_USERNAME'] || undefined,
  password: env['IMPORT_PASSWORD'] || undefined,
})

/** @throws ConfigError for a project that does not exist */
const refuseMissing = (wanted: readonly string[], projects: readonly string[]): void => {
  const known = new Set(projects.map(foldName))
  const missing = wanted.find((name) => !known.has(foldName(name)))
  if (missing !== undefined)
    throw new ConfigError(withoutControls(`the old service has no project ${missing}; it has ${projects.join(', ')}`))
}

const planOf = async (client: Client, here: Client, options: ImportOptions, unread: (what: string, why: string) => void) => {
  const wanted = new Set(options.projects.map(foldName))
  const isWanted = (project: string): boolean => wanted.size === 0 || wanted.has(foldName(project))
  const old = await readInventory(client, isWanted, unread)
  if (old.projects.length > 0) refuseMissing(options.projects, old.projects)
  const own = await readInventory(here, isWanted, (what, why) => {
    throw new ConfigError(`${here.address} does not say what is there (${what}): ${why}`)
  })
  return planImport(old, own, await readAbsent(client, unread), { isWanted, train: options.train })
}

const inDirectory = async <T>(use: (directory: string) => Promise<T>): Promise<T> => {
  const directory = await mkdtemp(join(tmpdir(), 'mindledger-import-'))
  try {
    return await use(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const run = async (old: Client, server: Server, options: ImportOptions, out: Screen): Promise<number> => {
  const here = new Client(server.address, server.fetch, limits.requestTimeoutMs)
  const unread: string[] = []
  out.progress(`reading ${old.address}`)
  const plan = await planOf(old, here, options, (what, why) => unread.push(`${what}: ${why}`))
  const onProgress = (text: string) => out.progress(withoutControls(text))
  const outcomes = options.apply ? await inDirectory((directory) => importItems(plan, { old, here, directory, onProgress })) : []
  show({ plan, outcomes: new Map(outcomes.map((outcome) => [outcome.item, outcome])), unread, apply: options.apply }, out)
  return unread.length > 0 || outcomes.some(({ failed }) => failed !== undefined) ? 1 : 0
}

/**
 * `mindledger import --from <address>`: copies the content of a running instance of MindsDB to the running server, or to a
 * temporary one if no server holds the data directory. Without `apply` it only shows the plan. Exit status 1 when something could not be
 * read or created.
 */
export const importFrom = async (config: CommandConfig, options: ImportOptions, out: Screen): Promise<number> => {
  const old = await openOldService(options.from, credentialsIn(options.env))
  return withServer(config, (server) => run(old, server, options, out))
}
