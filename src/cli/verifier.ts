import { verifierFile } from '../audit/verifier-file.js'

/** `mindledger verifier > verifier.mjs`: the file that an auditor reads, keeps and runs. */
export const printVerifier = async (): Promise<number> => {
  process.stdout.write(verifierFile())
  return 0
}
