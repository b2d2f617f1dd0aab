import { ConfigError } from '../../setup/config.js'
import { UsageError } from './usage-error.js'

/** A whole number, at least 1. @throws UsageError */
export const positive = (name: string, value: string | undefined, fallback: number, what = 'a position'): number => {
  const number = value === undefined ? fallback : Number(value)
  if (!Number.isSafeInteger(number) || number < 1) throw new UsageError(`--${name} takes ${what} from 1 on`)
  return number
}

/** @throws UsageError when the option is missing */
export const required = (name: string, value: string | undefined): string => {
  if (value === undefined) throw new UsageError(`--${name} is required`)
  return value
}

/** The last position that a command reads: `until`, or the head of the log. @throws ConfigError when the log ends before it */
export const endPosition = (until: number | undefined, head: number): number => {
  if (until !== undefined && until > head) throw new ConfigError(`--until ${until} is not there yet: the log ends at position ${head}`)
  return until ?? head
}

/** The base URL of a server, to which paths are appended. @throws UsageError when it is not one */
export const addressOf = (name: string, text: string): string => {
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text)) throw new UsageError(`--${name} takes an address: http://127.0.0.1:47334`)
  const { username, password } = new URL(text)
  // fetch takes no such address, and the errors of a command name its address.
  if (username !== '' || password !== '')
    throw new UsageError(`--${name} takes an address without a user and a password: http://127.0.0.1:47334`)
  return text.replace(/(?:\/api)?\/*$/, '')
}
