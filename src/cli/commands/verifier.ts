import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { verifierFile } from '../../audit/verifier-file.js'
import { programFile } from '../../setup/package.js'

/** `mindledger verifier > verifier.mjs`: the file that an auditor reads, keeps and runs. */
export const printVerifier = async (): Promise<number> => {
  process.stdout.write(verifierFile())
  return 0
}

type Proof = { proof: string; event: string; vkey: string | undefined; heads: readonly string[] }

/** `mindledger verify --proof file --event file`: runs the offline verifier on one proof and returns its exit status. */
export const verifyProof = async ({ proof, event, vkey, heads }: Proof): Promise<number> => {
  const options = [...(vkey === undefined ? [] : ['--vkey', vkey]), ...heads.flatMap((head) => ['--head', head])]
  const child = spawn(process.execPath, [programFile('verifier'), proof, '--event', event, ...options], { stdio: 'inherit' })
  const [status] = (await once(child, 'close')) as [number | null]
  return status ?? 2
}
