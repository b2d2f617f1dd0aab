import { readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { cutSecrets } from '../../dialect/secrets.js'

const maxLines = 1_000
const file = (): string => join(homedir(), '.mindledger_history')

/** Lines that were typed before, the newest first, as readline takes them. */
export const readHistory = (): string[] => {
  try {
    return readFileSync(file(), 'utf8').split('\n').filter((line) => line !== '').reverse() // prettier-ignore
  } catch {
    return []
  }
}

/** Keeps what was typed, but for statements that hold a secret. A home that cannot be written has no history. */
export const writeHistory = (statements: readonly string[], before: readonly string[]): void => {
  const clean = statements.filter((statement) => cutSecrets(statement) === statement).flatMap((statement) => statement.split('\n'))
  const lines = [...before.toReversed(), ...clean].filter((line) => line.trim() !== '').slice(-maxLines)
  try {
    writeFileSync(file(), `${lines.join('\n')}\n`, { mode: 0o600 })
  } catch {
    // What was typed before is of use, and not needed.
  }
}
