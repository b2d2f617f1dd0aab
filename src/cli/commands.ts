import type { Screen } from './terminal/output.js'
import { erasable } from './access/erasable.js'
import type { OptionName, Values } from './access/options.js'
import type { CommandConfig } from './access/server.js'
import { addressOf, positive, required } from './access/values.js'
import { UsageError } from './access/usage-error.js'

type Call = { config: CommandConfig; env: NodeJS.ProcessEnv; values: Values; rest: string[]; out: Screen }

export type Command = {
  /** Its arguments besides options, for the help. */
  takes?: string
  /** The maximum number of these arguments. */
  most?: number
  about: string
  /** Further text of its own help. */
  more?: string
  options?: { [Name in OptionName]?: string }
  example?: string
  /** Each command is loaded only when it is called. */
  run: (call: Call) => Promise<number>
}

const quiet = 'do not show the progress'
const url = 'the address of the server; by default the server that holds the data directory'
const vkey = 'the public key that must have signed the heads (name+id+base64), or a file with one or several, one a line'

export const commands: Readonly<Record<string, Command>> = {
  serve: {
    about: 'start the service, until SIGTERM or Ctrl-C',
    more: 'Serves on HOST and PORT, from the directory DATA_DIR. It creates a missing directory.',
    run: async ({ config }) => (await import('./commands/serve.js')).serve(config),
  },
  sql: {
    takes: '[statement]',
    most: Infinity,
    about: 'run SQL, on the running server or on the data directory',
    more: `Without a statement it reads statements: on a terminal one after the other, each ended by ";", until \\q; otherwise from standard input, until one fails.
CREATE MODEL returns when the training has ended. Errors go to standard error, and the exit status is 1.`,
    options: {
      db: 'the project or database for names without one',
      'as-of': 'read the data of an earlier position or time (UTC)',
      json: 'print an array with one object for each row',
      csv: 'print CSV',
      vertical: 'print one cell per line, as for tables that are too wide for the terminal',
      create: 'create the data directory if it is missing',
      url,
      quiet: 'do not show the progress of a training',
    },
    example: 'mindledger sql "SELECT name, status FROM models"',
    run: async ({ config, values, rest, out }) => {
      const { db, 'as-of': asOf, create = false, json, csv, vertical } = values
      const chosen = (['json', 'csv', 'vertical'] as const).filter((name) => values[name])
      if (chosen.length > 1) throw new UsageError(`sql takes one of ${chosen.map((name) => `--${name}`).join(' and ')}`)
      const format = json ? 'json' : csv ? 'csv' : vertical ? 'vertical' : 'table'
      return (await import('./commands/sql.js')).sql(config, { statement: rest.join(' '), db, asOf, create, format }, out)
    },
  },
  log: {
    about: 'print the events, one JSON text a line',
    options: { from: 'begin at this position', follow: 'continue with new events, until Ctrl-C' },
    example: 'mindledger log --from 40 --follow',
    run: async ({ config, values }) => {
      const { from, follow = false } = values
      return (await import('./commands/log.js')).printLog(config, { from: positive('from', from, 1), follow })
    },
  },
  head: {
    about: 'print the signed head of the log; keep it elsewhere',
    options: {
      into: 'append it to this file instead',
      key: 'print the public key of the heads',
      json: 'print the older form, with the hash chain and without a signature',
      'new-key': 'begin a new key, with the server stopped, and print it',
    },
    example: 'mindledger head --into /mnt/elsewhere/heads.txt',
    run: async ({ config, values, out }) => {
      const { into, key = false, json = false, 'new-key': newKey = false } = values
      return (await import('./commands/head.js')).head(config, { into, key, json, newKey }, out)
    },
  },
  verify: {
    about: 'check the whole log; the exit status is 0 only if it holds',
    options: {
      head: 'compare with the heads of this file, kept elsewhere; may be given several times',
      vkey,
      proof: 'check this single proof instead (of GET /api/log/proofs/inclusion, Accept: text/plain)',
      event: 'a file with the text of the event that --proof proves',
      shared: 'verify the log in PostgreSQL (LOG_URL), instead of the log in the data directory of a node',
      parquet: 'check this export of Parquet files, in a directory or bucket, instead; it needs no data directory',
      quiet,
    },
    example: 'mindledger verify --head heads.txt --vkey key.txt',
    run: async ({ config, values, out }) => {
      const { head = [], vkey: key, proof, event, parquet, shared = false } = values
      if ([parquet, proof, shared || undefined].filter((given) => given !== undefined).length > 1)
        throw new UsageError('verify takes one of --parquet, --proof and --shared')
      if (parquet !== undefined)
        return (await import('./commands/archive/parquet.js')).verifyParquet(
          { place: parquet, keys: config.blobKeys, heads: head, vkey: key },
          out,
        )
      if (shared) return (await import('./commands/verify-shared.js')).verifyShared(config, { heads: head, vkey: key }, out)
      if ((proof === undefined) !== (event === undefined)) throw new UsageError('--proof and --event go together')
      if (proof === undefined || event === undefined)
        return (await import('./commands/verify.js')).verify(config, { heads: head, vkey: key }, out)
      return (await import('./commands/verifier.js')).verifyProof({ proof, event, vkey: key, heads: head })
    },
  },
  export: {
    about: 'print the events with their proof, for the offline verifier',
    options: {
      project: 'only the events of this project',
      until: 'end at this position',
      head: 'split left-out ranges at the sizes of the heads in this file; may be given several times',
      parquet: 'write Parquet files of everything into this directory or bucket (s3://…) instead; existing files are kept',
      quiet,
    },
    example: 'mindledger export --project shop > export.jsonl',
    run: async ({ config, values, out }) => {
      const { head = [], parquet } = values
      const project = values.project?.at(-1)
      const until = values.until === undefined ? undefined : positive('until', values.until, 1)
      if (parquet !== undefined) {
        if (project !== undefined || head.length > 0) throw new UsageError('export --parquet takes neither --project nor --head')
        return (await import('./commands/archive/parquet.js')).exportParquet(config, { place: parquet, until }, out)
      }
      return (await import('./commands/export.js')).exportLog(config, { project, until, heads: head })
    },
  },
  verifier: {
    about: 'print the offline verifier, one file that runs with node',
    example: 'mindledger verifier > verifier.mjs; node verifier.mjs export.jsonl --vkey key.txt',
    run: async () => (await import('./commands/verifier.js')).printVerifier(),
  },
  status: {
    about: 'show the positions of log and tables, the readiness, and the disk use',
    more: 'The exit status is 0 only if all is ready.',
    options: { url },
    run: async ({ config, out }) => (await import('./commands/status.js')).status(config, out),
  },
  nodes: {
    about: 'list the nodes that share the log of LOG_URL: the address, the last sign of life and the position of each, and what is wrong',
    more: 'The exit status is 0 only if no node is dead, refuses writes, or has events that PostgreSQL lost.',
    options: { json: 'print one JSON text for each node', forget: 'take a dead node off the list first' },
    run: async ({ config, values: { json = false, forget }, out }) =>
      (await import('./commands/shared/nodes.js')).nodes(config, { json, forget }, out),
  },
  replay: {
    about: 'rebuild the DuckDB tables from the log, in a separate file',
    options: { into: 'the DuckDB file to write', until: 'end at this position', quiet },
    example: 'mindledger replay --into audit.duckdb --until 42',
    run: async ({ config, values, out }) => {
      const until = values.until === undefined ? undefined : positive('until', values.until, 1)
      return (await import('./commands/replay.js')).replayInto(config, { into: required('into', values.into), until }, out)
    },
  },
  diff: {
    about: 'compare the live tables with a replay of the log',
    more: 'The exit status is 0 if they are equal, 1 if they differ, 2 if they could not be compared.',
    options: { rows: 'the number of differing rows to show for each table (10)', url, quiet },
    run: async ({ config, values, out }) => {
      const rows = positive('rows', values.rows, 10, 'a number')
      return (await import('./commands/diff.js')).diff(config, { rows }, out)
    },
  },
  reproduce: {
    takes: '[[project.]model[.version]]',
    most: 1,
    about: 'train a version again from its kept rows, and compare the bytes',
    more: `Its query is run again, too. The exit status is 0 if the bytes are the same, 1 if they differ, 2 if the version could not be trained again.`,
    options: { all: 'all trained versions', json: 'print one JSON text for each version', url, quiet },
    example: 'mindledger reproduce shop.rent.2',
    run: async ({ config, values, rest, out }) => {
      const [name] = rest
      const { all = false, json = false } = values
      if (all === (name !== undefined)) throw new UsageError('reproduce takes a model, or --all: mindledger reproduce shop.rent.2')
      return (await import('./commands/reproduce.js')).reproduceModels(config, { name, json }, out)
    },
  },
  rerun: {
    takes: '[answer or query]',
    most: 1,
    about: 'rerun a recorded answer of an agent, unchanged or changed, and compare',
    more: `The answer is an id or a position; a SELECT names several by its first column. Unless something is changed, the recorded exchanges are replayed, which calls nothing and must give the same bytes.
The exit status is 0 if all answers are the same, 1 if one differs, 2 if one could not be asked again.`,
    options: {
      query: 'the same SELECT, as an option',
      'agent-version': 'with this version of the agent',
      model: 'with this language model, at the address of the agent',
      provider: 'with this provider of the model, and the address and key that the service has for it',
      'prompt-file': 'with the text of this file as the prompt_template',
      'as-of': 'with agent and data of a log position; "then": the position that the recorded answer read',
      replay: 'exchanges, tools (the model is live) or nothing',
      'live-tools': 'with replayed tools: run inputs that are not recorded',
      json: 'print one JSON text for each agent',
      url,
    },
    example: `mindledger rerun "SELECT answer_id FROM log.answers WHERE verdict = 'bad'" --model llama3.2 --provider ollama`,
    run: async ({ config, values, rest, out }) => {
      const [first] = rest
      const { model, provider, replay, 'prompt-file': promptFile, 'as-of': asOf, 'live-tools': liveTools = false, json = false } = values
      if ((first === undefined) === (values.query === undefined))
        throw new UsageError('rerun takes an answer, or a query of answers: mindledger rerun 42')
      // An id and a position have no blanks.
      const named = values.query === undefined && /\s/.test(first?.trim() ?? '') ? { query: first } : { answer: first, query: values.query }
      if (replay !== undefined && !['exchanges', 'tools', 'nothing'].includes(replay))
        throw new UsageError('--replay takes exchanges, tools or nothing')
      if (asOf !== undefined && asOf !== 'then') positive('as-of', asOf, 1)
      const version = values['agent-version'] === undefined ? undefined : positive('agent-version', values['agent-version'], 1, 'a version')
      const options = { answer: undefined, ...named, version, model, provider, promptFile, asOf, replay, liveTools, json }
      return (await import('./commands/rerun.js')).rerun(config, options, out)
    },
  },
  backup: {
    about: 'copy the log up to one position with its blobs; a server may run',
    options: { into: 'the directory to make', like: 'an earlier backup; blobs that it has are linked instead of copied', quiet },
    example: 'mindledger backup --into /mnt/backups/monday',
    run: async ({ config, values, out }) => {
      const { like } = values
      return (await import('./commands/backup.js')).backup(config, { into: required('into', values.into), like }, out)
    },
  },
  restore: {
    takes: '<backup>',
    most: 1,
    about: 'verify a backup, and make it the data directory',
    options: {
      into: 'another directory than DATA_DIR',
      head: 'compare with the heads of this file; may be given several times',
      vkey,
      erasures: 'leave out data that was erased since: events of DataErased, one a line',
      quiet,
    },
    example: 'mindledger restore /mnt/backups/monday --head heads.txt',
    run: async ({ config, values, rest, out }) => {
      const [from] = rest
      if (from === undefined) throw new UsageError('restore takes a backup: mindledger restore /mnt/backups/monday')
      const { into, head: heads = [], vkey: key, erasures } = values
      return (await import('./commands/restore.js')).restore(config, { backup: from, into, heads, vkey: key, erasures }, out)
    },
  },
  migrate: {
    about: 'move the log and its contents to PostgreSQL, or back',
    more: `To PostgreSQL it takes the data directory, whose service has ended, and makes it that of a node. Back it takes a log that nodes share, named by --from, and makes a data directory of it; the nodes have ended, and none opens that log again.
Run it again if it was cut off: it goes on. A password may stand in PGPASSWORD. The exit status is 1 when contents are missing.`,
    options: {
      to: 'postgres://user@host/database, or with --from a directory',
      from: 'the PostgreSQL whose log becomes a directory',
      copy: 'with --from: nodes may serve and go on; the directory becomes another log with the same past',
      lost: 'the directory is that of a node, whose PostgreSQL is lost with its standbys and backups',
      quiet,
    },
    example: 'mindledger migrate --to postgres://ledger@db.corp/ledger',
    run: async ({ config, values, out }) => {
      const { migrate, isPostgres } = await import('./commands/shared/migrate.js')
      const to = required('to', values.to)
      if (isPostgres(to) === (values.from !== undefined) || (values.from !== undefined && !isPostgres(values.from)))
        throw new UsageError('migrate takes --to postgres://…, or --from postgres://… and --to with a directory')
      return migrate(config, { to, from: values.from, copy: values.copy === true, lost: values.lost === true }, out)
    },
  },
  reappend: {
    about: 'append events that a failover of PostgreSQL lost, from the data directory of this node',
    more: `The node has ended, and LOG_URL names the PostgreSQL that is in use now. Take the node that has the highest position; the others follow again when they are started anew. Nothing is appended once others wrote in the place of what was lost.
Run it again if it was cut off: it goes on. The exit status is 1 when contents are missing.`,
    options: { quiet },
    run: async ({ config, out }) => (await import('./commands/shared/reappend.js')).reappendLost(config, out),
  },
  'rotate-key': {
    about: 'replace the master key; if VAULT_KEY is set, by NEW_VAULT_KEY',
    options: { url },
    run: async ({ config, out }) => (await import('./commands/rotate-key.js')).rotateKey(config, out),
  },
  erase: {
    takes: '<what> <which>',
    most: Infinity,
    about: 'erase a prediction, answer, conversation, file, secrets, documents, or all before a time',
    more: erasable,
    options: {
      'dry-run': 'say what would go',
      reason: 'the reason, for the log',
      shared: 'also erase bytes that another resource uses',
      'content-version': 'of a file: only this content',
      url,
    },
    example: 'mindledger erase file homes --dry-run',
    run: async ({ config, values, rest, out }) => {
      const version = values['content-version']
      const contentVersion = version === undefined ? undefined : positive('content-version', version, 1)
      const { reason, shared = false, 'dry-run': dryRun = false } = values
      return (await import('./commands/erase.js')).erase(config, { subject: rest, contentVersion, reason, shared, dryRun }, out)
    },
  },
  import: {
    about: 'copy the resources of a running instance of MindsDB',
    more: `Without --apply nothing is written: it says what would be made, what is here already, and what cannot be copied. Run it again at will: what is here is not touched.
A login at the old service is read from the environment: IMPORT_USERNAME and IMPORT_PASSWORD, or IMPORT_TOKEN.
The exit status is 0 when all that can be copied was, 1 when something could not be read or made.`,
    options: {
      from: 'the address of the old service',
      apply: 'create what is missing here',
      'dry-run': 'write nothing, as without --apply',
      project: 'only resources of this project, and those without a project; may be given several times',
      train: 'train the models, by their CREATE MODEL statements',
      url,
      quiet,
    },
    example: 'mindledger import --from http://old:47334 --apply',
    run: async ({ config, env, values, out }) => {
      const { apply = false, 'dry-run': dryRun = false, train = false, project: projects = [] } = values
      if (apply && dryRun) throw new UsageError('import takes one of --apply and --dry-run')
      const from = addressOf('from', required('from', values.from))
      return (await import('./commands/import.js')).importFrom(config, { from, apply, train, projects, env }, out)
    },
  },
  mcp: {
    about: 'speak the Model Context Protocol on standard input and output, for desktop clients',
    more: `Relays to the running server; only messages of the protocol are written to standard output. A client is told to start this program: see docs/use/mcp.md.
The login is read from the environment: AUTH=session, AUTH_USERNAME and AUTH_PASSWORD.`,
    options: { url },
    example: 'mindledger mcp --url http://127.0.0.1:47334',
    run: async ({ config }) => (await import('./commands/mcp.js')).mcp(config),
  },
  rebuild: {
    about: 'rebuild the resources table and the tree from the log (with a stopped server)',
    run: async ({ config, out }) => (await import('./commands/rebuild.js')).rebuild(config, out),
  },
}
