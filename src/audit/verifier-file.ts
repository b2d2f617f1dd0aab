import { readFileSync } from 'node:fs'
import { programFile } from '../setup/package.js'

/** The offline verifier as a file to hand on, complete by itself. */
export const verifierFile = (): string => readFileSync(programFile('verifier'), 'utf8')
