import { runCommand } from '../../src/cli/run-command.js'
import { withoutProgress, type Ended } from './cli.js'

/**
 * Runs a command of the CLI to its end in this process, for tests that do not need a separate process: starting one takes longer than most
 * commands. It does not capture direct output, as that of `log` and `export`.
 */
export const commandHere = async (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> => {
  const [out, err]: [string[], string[]] = [[], []]
  const around = {
    env: { ...process.env, ...env },
    stdout: { write: (text: string) => out.push(text) },
    stderr: { write: (text: string) => err.push(text) },
  }
  const code = await runCommand(withoutProgress(args), around)
  return { code, out: out.join(''), err: err.join('') }
}
