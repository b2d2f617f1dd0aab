import { readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { cutSecrets } from '../../dialect/mask-secrets.js'

const maxLines = 1_000
const file = (): string => join(homedir(), '.mindledger_history')

/** The lines typed in earlier sessions, newest first, as readline expects them. */
export const readHistory = (): string[] => {
  try {
    return readFileSync(file(), 'utf8').split('\n').filter((line) => line !== '').reverse() // prettier-ignore
  } catch {
    return []
  }
}

/** Saves the typed statements, except those that hold a secret. Without a writable home directory there is no history. */
export const writeHistory = (statements: readonly string[], before: readonly string[]): void => {
  const clean = statements.filter((statement) => cutSecrets(statement) === statement).flatMap((statement) => statement.split('\n'))
  const lines = [...before.toReversed(), ...clean].filter((line) => line.trim() !== '').slice(-maxLines)
  try {
    writeFileSync(file(), `${lines.join('\n')}\n`, { mode: 0o600 })
  } catch {
    // The history is useful but not necessary.
  }
}
