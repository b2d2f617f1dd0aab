import { settingDescriptions } from '../setup/config.js'
import { readVersion } from '../setup/version.js'
import { commands } from './commands.js'
import { options, type OptionName } from './access/options.js'

/** Names with their descriptions, wrapped at the width. */
const listed = (rows: readonly (readonly [string, string])[], width: number): string[] => {
  const indent = 2 + Math.max(...rows.map(([name]) => name.length)) + 2
  return rows.flatMap(([name, about]) =>
    wrapped(about, Math.max(24, width - indent)).map((line, i) => (i === 0 ? `  ${name}`.padEnd(indent) : ' '.repeat(indent)) + line),
  )
}

const wrapped = (text: string, width: number): string[] => {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

const optionText = (name: OptionName): string => {
  const option = options[name]
  const short = 'short' in option ? `-${option.short}, ` : ''
  return `${short}--${name}${'value' in option ? ` <${option.value}>` : ''}`
}

const isOption = (name: string): name is OptionName => Object.hasOwn(options, name)

/** The help of all commands, with the settings. */
export const usage = (width: number): string => {
  const all = Object.entries(commands)
  const settings = settingDescriptions.map(
    ({ name, about, default: value }) => [name, `${about}${value === undefined ? '' : ` (${String(value)})`}`] as const,
  )
  return [
    `mindledger ${readVersion()}`,
    '',
    ...listed(all.map(([name, { about }]) => [name, about] as const), width), // prettier-ignore
    '',
    '"mindledger help <command>" shows its arguments. -v prints the version.',
    '',
    'Settings, from the environment:',
    ...listed(settings, width),
  ].join('\n')
}

/** The help of one command. */
export const usageOf = (name: string, width: number): string => {
  const command = commands[name]
  if (!command) throw new TypeError(`there is no command ${name}`)
  const { takes, about, more, options: taken = {}, example } = command
  const own = Object.entries(taken).flatMap(([option, does]) => (isOption(option) ? [[optionText(option), does] as const] : []))
  return [
    ['mindledger', name, ...(own.length > 0 ? ['[options]'] : []), ...(takes === undefined ? [] : [takes])].join(' '),
    '',
    ...wrapped(`${about.charAt(0).toUpperCase()}${about.slice(1)}.`, width),
    ...(more === undefined ? [] : ['', ...more.split('\n').flatMap((line) => (line.startsWith(' ') ? [line] : wrapped(line, width)))]),
    ...(own.length > 0 ? ['', ...listed(own, width)] : []),
    ...(example === undefined ? [] : ['', `  ${example}`]),
  ].join('\n')
}
