/** The costs of the audit: see each comparison. */
export { deliver } from './deliver.js'
export { proof } from './proof.js'
export { verify } from './verify.js'
