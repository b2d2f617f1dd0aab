#!/usr/bin/env node
import { constants } from 'node:os'
import { parseArgs } from 'node:util'
import { ConfigError, readConfig, settingDescriptions } from '../config.js'
import { readVersion } from '../version.js'
import { createOutput } from './output.js'

const usage = `mindledger ${readVersion()}

  mindledger serve                        start the service
  mindledger sql [--db name] <statement>  run a statement, on the running server or on the data directory
                 [--as-of when]           ... which reads as things were at a position or a time (UTC)
                 [--create]               ... in a data directory that is made when there is none
  mindledger log [--from n] [--follow]    print the events, one JSON text a line
  mindledger head [--into file]           print the signed head of the log, or append it; keep it elsewhere
                  [--key|--json|--new-key] ... the public key; the head with the chain, unsigned; begin a new key
  mindledger verify [--head file]…        walk the whole log; exit status 0 only when it holds
                    [--vkey key]          ... and the heads are signed with this key
  mindledger export [--project name]      print the events with their proof, for the offline verifier
                    [--until n]           ... up to a position [--head file]… dividing what is left out at these heads
  mindledger verifier                     print the offline verifier: one file, to be run with node by anybody
  mindledger status                       how far log and tables are, what is ready, what room it takes
  mindledger replay --into file.duckdb    build the DuckDB tables anew from the log [--until position]
  mindledger backup --into dir            copy log and blobs, of one position, beside a running server or without one
                    [--like backup]       ... with second names for the blobs that an earlier backup has
  mindledger restore <backup>             verify a backup and make it the data directory, or [--into dir]
                    [--erasures file]     ... without what was erased since: events of DataErased, one a line
  mindledger rotate-key                   replace the master key; with VAULT_KEY set by NEW_VAULT_KEY
  mindledger diff [--rows n]              compare the live tables with a replay: exit status 0 equal, 1 different,
                                          2 could not; shows the first n rows that differ in each table (10)
  mindledger reproduce <[project.]model[.version]>
                                          train a version again from its kept rows and compare the bytes: exit status
                                          0 the same, 1 different, 2 could not; its query is run again, too
                       [--all] [--json]   ... all trained versions; a JSON text a version
  mindledger erase <what> <which>         erase a prediction, request, file, matrix, secrets, or all before a time
                 [--dry-run]              ... says what would go [--reason text] [--shared] [--content-version n]
  mindledger rebuild                      build the resources table and the tree anew from the log (server stopped)
  --quiet keeps sql, verify, replay, diff and reproduce from telling how far they are.
  --url   names the server that sql, status, diff, reproduce, erase and rotate-key speak with. Without it they find the
          one that holds the data directory.

Settings, from the environment:
${settingDescriptions.map(({ name, about, default: value }) => `  ${name.padEnd(16)} ${about}${value === undefined ? '' : ` (${String(value)})`}`).join('\n')}
`

const options = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
  head: { type: 'string', multiple: true },
  key: { type: 'boolean' },
  json: { type: 'boolean' },
  'new-key': { type: 'boolean' },
  vkey: { type: 'string' },
  into: { type: 'string' },
  until: { type: 'string' },
  like: { type: 'string' },
  erasures: { type: 'string' },
  from: { type: 'string' },
  follow: { type: 'boolean', short: 'f' },
  db: { type: 'string' },
  url: { type: 'string' },
  create: { type: 'boolean' },
  project: { type: 'string' },
  'as-of': { type: 'string' },
  rows: { type: 'string' },
  all: { type: 'boolean' },
  quiet: { type: 'boolean', short: 'q' },
  'dry-run': { type: 'boolean' },
  shared: { type: 'boolean' },
  reason: { type: 'string' },
  'content-version': { type: 'string' },
} as const

class UsageError extends Error {}

const positive = (name: string, value: string | undefined, fallback: number, what = 'a position'): number => {
  const number = value === undefined ? fallback : Number(value)
  if (!Number.isSafeInteger(number) || number < 1) throw new UsageError(`--${name} takes ${what} from 1 on`)
  return number
}

const required = (name: string, value: string | undefined): string => {
  if (value === undefined) throw new UsageError(`--${name} is required`)
  return value
}

/** The address of a server as its paths are put behind it. */
const urlOf = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text)) throw new UsageError('--url takes an address: http://127.0.0.1:47334')
  return text.replace(/(?:\/api)?\/*$/, '')
}

const parse = (args: string[]) => {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** What each command takes beside its name. */
const taken: Record<string, readonly (keyof typeof options)[]> = {
  serve: [],
  sql: ['db', 'as-of', 'url', 'create', 'quiet'],
  log: ['from', 'follow'],
  head: ['into', 'key', 'json', 'new-key'],
  verify: ['head', 'vkey', 'quiet'],
  export: ['project', 'until', 'head'],
  verifier: [],
  replay: ['into', 'until', 'quiet'],
  diff: ['rows', 'quiet', 'url'],
  reproduce: ['all', 'json', 'quiet', 'url'],
  erase: ['dry-run', 'shared', 'reason', 'content-version', 'url'],
  status: ['url'],
  rebuild: [],
  'rotate-key': ['url'],
  backup: ['into', 'like', 'quiet'],
  restore: ['into', 'head', 'vkey', 'erasures', 'quiet'],
}

const checkTaken = (command: string, values: object, rest: readonly string[]): void => {
  const takes = taken[command]
  if (!takes) throw new UsageError(`there is no command ${command}; "mindledger --help" lists them`)
  const option = Object.keys(values).find((name) => !takes.some((known) => known === name))
  if (option !== undefined) throw new UsageError(`${command} takes no option --${option}`)
  const most = command === 'sql' || command === 'erase' ? Infinity : Number(command === 'restore' || command === 'reproduce')
  if (rest.length > most) throw new UsageError(`${command} takes no argument ${rest[most] ?? ''}`)
}

/** Runs one command; the exit status is 0 only when all is well. Each command is loaded only when it is called. */
const run = async (args: string[]): Promise<number> => {
  const { values, positionals } = parse(args)
  const [command, ...rest] = positionals
  const out = createOutput({ quiet: values.quiet })
  if (values.version) out.line(readVersion())
  else if (values.help || command === undefined) out.line(usage)
  if (values.version || values.help) return 0
  if (command === undefined) return 2
  checkTaken(command, values, rest)
  const config = { ...readConfig(process.env), serverUrl: urlOf(values.url) }
  switch (command) {
    case 'serve':
      return (await import('./serve.js')).serve(config)
    case 'sql':
      return (await import('./sql.js')).sql(
        config,
        { statement: rest.join(' '), db: values.db, asOf: values['as-of'], create: values.create ?? false },
        out,
      )
    case 'log':
      return (await import('./log.js')).printLog(config, { from: positive('from', values.from, 1), follow: values.follow ?? false })
    case 'head':
      return (await import('./head.js')).head(
        config,
        { into: values.into, key: values.key ?? false, json: values.json ?? false, newKey: values['new-key'] ?? false },
        out,
      )
    case 'verify':
      return (await import('./verify.js')).verify(config, { heads: values.head ?? [], vkey: values.vkey }, out)
    case 'export': {
      const until = values.until === undefined ? undefined : positive('until', values.until, 1)
      return (await import('./export.js')).exportLog(config, { project: values.project, until, heads: values.head ?? [] })
    }
    case 'verifier':
      return (await import('./verifier.js')).printVerifier()
    case 'status':
      return (await import('./status.js')).status(config, out)
    case 'replay': {
      const until = values.until === undefined ? undefined : positive('until', values.until, 1)
      return (await import('./replay.js')).replayInto(config, { into: required('into', values.into), until }, out)
    }
    case 'backup':
      return (await import('./backup.js')).backup(config, { into: required('into', values.into), like: values.like }, out)
    case 'restore': {
      const [from] = rest
      if (from === undefined) throw new UsageError('restore takes a backup: mindledger restore /mnt/backups/monday')
      const { into, head: heads = [], vkey, erasures } = values
      return (await import('./restore.js')).restore(config, { backup: from, into, heads, vkey, erasures }, out)
    }
    case 'rotate-key':
      return (await import('./rotate-key.js')).rotateKey(config, out)
    case 'diff':
      return (await import('./diff.js')).diff(config, { rows: positive('rows', values.rows, 10, 'a number') }, out)
    case 'reproduce': {
      const [name] = rest
      const { all = false, json = false } = values
      if (all === (name !== undefined)) throw new UsageError('reproduce takes a model, or --all: mindledger reproduce shop.rent.2')
      return (await import('./reproduce.js')).reproduceModels(config, { name, json }, out)
    }
    case 'erase': {
      const version = values['content-version']
      const contentVersion = version === undefined ? undefined : positive('content-version', version, 1)
      const { reason, shared = false, 'dry-run': dryRun = false } = values
      return (await import('./erase.js')).erase(config, { subject: rest, contentVersion, reason, shared, dryRun }, out)
    }
    case 'rebuild':
      return (await import('./rebuild.js')).rebuild(config, out)
    default:
      throw new UsageError(`nothing carries out ${command}`)
  }
}

/** What the machine refuses: files that may not be read or written, a disk that is full. */
const ofTheSystem = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'ENAMETOOLONG',
  'EMFILE',
  'ENFILE',
  'EIO',
])

/** What the user can mend is one line; anything else is a fault of ours, and its stack says where. */
const explained = (error: unknown): string | undefined => {
  if (error instanceof ConfigError || error instanceof UsageError) return error.message
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  if (!(error instanceof Error) || typeof code !== 'string') return undefined
  if (ofTheSystem.has(code)) return error.message
  return code.startsWith('SQLITE_') ? `the data directory cannot be used: ${error.message} (${code})` : undefined
}

/** Status 1 is the answer of commands that compare: what went wrong meanwhile must not be taken for it. */
const fail = (error: unknown): number => {
  const line = explained(error)
  const said =
    line === undefined ? `a fault of mindledger: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}` : line
  process.stderr.write(`mindledger: ${said}\n`)
  return line === undefined && process.argv[2] === 'serve' ? 1 : 2
}

// A reader that has seen enough (`| head -1`) closes the pipe. Like other tools: silence, and the status of SIGPIPE;
// at once, as what the command still does would be for nobody.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') process.exit(fail(error))
  process.exit(128 + constants.signals.SIGPIPE)
})

// What this and its child processes write is for nobody but the user who runs them, also in a directory that others may read.
process.umask(0o077)

process.on('uncaughtException', (error) => process.exit(fail(error)))

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  process.exitCode = fail(error)
}
