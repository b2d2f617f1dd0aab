import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { verifierFile } from '../audit/verifier-file.js'

/** `mindledger verifier > verifier.mjs`: the file that an auditor reads, keeps and runs. */
export const printVerifier = async (): Promise<number> => {
  process.stdout.write(verifierFile())
  return 0
}

type Proof = { proof: string; event: string; vkey: string | undefined; heads: readonly string[] }

/** `mindledger verify --proof file --event file`: what the offline verifier says of one proof, with its exit status. */
export const verifyProof = async ({ proof, event, vkey, heads }: Proof): Promise<number> => {
  const file = fileURLToPath(new URL('../audit/verifier.js', import.meta.url))
  const options = [...(vkey === undefined ? [] : ['--vkey', vkey]), ...heads.flatMap((head) => ['--head', head])]
  const child = spawn(process.execPath, [file, proof, '--event', event, ...options], { stdio: 'inherit' })
  const [status] = (await once(child, 'close')) as [number | null]
  return status ?? 2
}
