import { runCommand } from '../../src/cli/run-command.js'
import type { Ended } from './cli.js'

/**
 * Runs a command of the CLI to its end in this process, for tests that are not about the process: a start costs more than most
 * commands do. It does not see what a command writes around its output, as `log` and `export` do.
 */
export const commandHere = async (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> => {
  const [out, err]: [string[], string[]] = [[], []]
  const around = {
    env: { ...process.env, ...env },
    stdout: { write: (text: string) => out.push(text) },
    stderr: { write: (text: string) => err.push(text) },
  }
  const code = await runCommand([...args], around)
  return { code, out: out.join(''), err: err.join('') }
}
