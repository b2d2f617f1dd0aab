import { inspect, parseArgs } from 'node:util'
import { errorCode, isDiskFull, isProblem, type Problem, errorText } from '../basics/errors.js'
import { similarName } from '../dialect/names.js'
import { isOfSharedStore } from '../files/shared/problems.js'
import { readConfig, ConfigError } from '../setup/config.js'
import { readVersion } from '../setup/version.js'
import { options, type OptionName, type Values } from './access/options.js'
import { UsageError } from './access/usage-error.js'
import { addressOf } from './access/values.js'
import { commands } from './commands.js'
import { usage, usageOf } from './help.js'
import { createOutput, type Stream } from './terminal/output.js'

/** The request of the user: the help of all commands or of one, the version, or a command to run. */
export type CliRequest =
  | { kind: 'version' }
  | { kind: 'help'; command: string | undefined; isWanted: boolean }
  | { kind: 'run'; command: string; values: Values; rest: string[] }

const meant = (name: string, known: readonly string[], written = (found: string): string => found): string => {
  const found = similarName(name, known)
  return found === undefined ? '' : `; did you mean ${written(found)}?`
}

const requireCommand = (name: string): string => {
  if (Object.hasOwn(commands, name)) return name
  throw new UsageError(
    `there is no command ${name}${meant(name, [...Object.keys(commands), 'help', 'version']) || '; "mindledger help" lists them'}`,
  )
}

/** The options of a command, and those that all commands have. */
const optionsOf = (command: string): OptionName[] =>
  [...Object.keys(commands[command]?.options ?? {}), 'help', 'version', 'quiet'].filter((name): name is OptionName =>
    Object.hasOwn(options, name),
  )

/** Refuses the first option that the command does not have, before the others are parsed. */
const refuseUnknown = (args: string[], command: string): void => {
  const known = optionsOf(command)
  const { tokens } = parseArgs({ args, options, allowPositionals: true, strict: false, tokens: true })
  for (const token of tokens)
    if (token.kind === 'option' && !known.some((name) => name === token.name))
      throw new UsageError(
        `${command} takes no option ${token.rawName}${meant(token.name, known, (name) => `--${name}`) || `; "mindledger help ${command}" lists them`}`,
      )
}

const strictly = (args: string[]) => {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(errorText(error))
  }
}

/** The index of the command's name: the first argument that is not an option. */
const commandIn = (args: string[]): string | undefined => {
  const { tokens } = parseArgs({ args, options, allowPositionals: true, strict: false, tokens: true })
  return tokens.find((token) => token.kind === 'positional')?.value
}

/**
 * Reads the arguments of the program.
 *
 * @example readArguments(['sql', '--json', 'SELECT 1']) // { kind: 'run', command: 'sql', values: { json: true }, rest: ['SELECT 1'] }
 * @throws UsageError that names the most similar command or option
 */
const readArguments = (args: string[]): CliRequest => {
  const name = commandIn(args)
  if (name === undefined) {
    const [option] = args
    if (option === '-v' || option === '--version') return { kind: 'version' }
    const isWanted = option === '-h' || option === '--help'
    if (option !== undefined && !isWanted && option.startsWith('-'))
      throw new UsageError(`there is no option ${option}; "mindledger help" lists commands and options`)
    return { kind: 'help', command: undefined, isWanted }
  }
  if (name === 'version') return { kind: 'version' }
  if (name === 'help') {
    const [, of] = strictly(args).positionals
    return { kind: 'help', command: of === undefined || of === 'help' || of === 'version' ? undefined : requireCommand(of), isWanted: true }
  }
  const command = requireCommand(name)
  refuseUnknown(args, command)
  const { values, positionals } = strictly(args)
  const rest = positionals.slice(1)
  if (values.version) return { kind: 'version' }
  if (values.help) return { kind: 'help', command, isWanted: true }
  const most = commands[command]?.most ?? 0
  if (rest.length > most) throw new UsageError(`${command} takes no argument ${rest[most] ?? ''}`)
  return { kind: 'run', command, values, rest }
}

/** The environment and the outputs of a command, such as those of a process. */
type Surroundings = { env: NodeJS.ProcessEnv; stdout: Stream; stderr: Stream }

/** Help is as wide as the terminal, within limits that are easy to read. */
const helpWidthOf = ({ columns }: Stream): number => Math.min(Math.max(columns || 80, 60), 120)

const run = async (args: string[], { env, stdout, stderr }: Surroundings): Promise<number> => {
  const asked = readArguments(args)
  const out = createOutput({ stdout, stderr, quiet: asked.kind === 'run' && asked.values.quiet })
  const helpWidth = helpWidthOf(stdout)
  if (asked.kind === 'version') out.line(readVersion())
  else if (asked.kind === 'help') out.line(asked.command === undefined ? usage(helpWidth) : usageOf(asked.command, helpWidth))
  if (asked.kind !== 'run') return asked.kind === 'help' && !asked.isWanted ? 2 : 0
  const { command, values, rest } = asked
  const serverUrl = values.url === undefined ? undefined : addressOf('url', values.url)
  const config = { ...readConfig(env), ...(serverUrl !== undefined && { serverUrl }) }
  return commands[command]?.run({ config, env, values, rest, out }) ?? 2
}

/** Errors of the operating system, such as missing permissions or a full disk. */
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

/** SQLite cannot create its files beside the log, which it needs even for reading. */
const needsPlace = new Set(['SQLITE_CANTOPEN', 'SQLITE_READONLY_DIRECTORY'])
const placeNeeded = '. SQLite makes files beside log.sqlite even to read it: let this user write in the directory, or read a backup'

const causeOf = ({ detail, extras: { cause } }: Problem): string => (typeof cause === 'string' ? cause : detail)

/** The message of an error that the user can fix; undefined for a fault of this program, which is shown with its stack and its causes. */
const explained = (error: unknown): string | undefined => {
  if (error instanceof ConfigError || error instanceof UsageError) return error.message
  // The operator needs the cause, which clients never see.
  if (isProblem(error) && isOfSharedStore(error)) return `${error.detail}: ${causeOf(error)}`
  if (isProblem(error) && error.code === 'storage_failed') return `the data directory cannot be used: ${causeOf(error)}`
  if (isDiskFull(error)) return `the disk is full: ${errorText(error)}`
  if (!(error instanceof Error)) return undefined
  const code = errorCode(error)
  if (ofTheSystem.has(code)) return error.message
  if (!code.startsWith('SQLITE_')) return undefined
  return `the data directory cannot be used: ${error.message} (${code})${needsPlace.has(code) ? placeNeeded : ''}`
}

/**
 * Writes an error to stderr, and returns the exit status: 2, because status 1 is a result of a command. Only faults of
 * `serve` exit with 1.
 */
export const fail = (error: unknown, [command]: readonly string[], { stderr }: Pick<Surroundings, 'stderr'>): number => {
  const line = explained(error)
  const said = line === undefined ? `a fault of mindledger: ${error instanceof Error ? inspect(error) : String(error)}` : line
  stderr.write(`mindledger: ${said}\n`)
  return line === undefined && command === 'serve' ? 1 : 2
}

/**
 * Runs one command to its end, and returns the exit status: 0 only without errors.
 *
 * @example process.exitCode = await runCommand(['sql', 'SELECT 1'], process)
 */
export const runCommand = async (args: string[], around: Surroundings): Promise<number> => {
  try {
    return await run(args, around)
  } catch (error) {
    return fail(error, args, around)
  }
}
