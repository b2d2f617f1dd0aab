import { errorText } from '../basics/errors.js'
import { parseArgs } from 'node:util'
import { similarName } from '../dialect/names.js'
import { commands } from './commands.js'
import { options, type OptionName, type Values } from './access/options.js'
import { UsageError } from './access/usage-error.js'

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
export const readArguments = (args: string[]): CliRequest => {
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
