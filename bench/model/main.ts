import { california } from './california.js'
import { serving } from './serving.js'
import { trees } from './trees.js'

/** The speed of models: in process, in SQL, and over REST while another model trains. Only SQL needs the folder of the tables. */
export const model = async (folder?: string): Promise<void> => {
  await trees()
  if (folder !== undefined) await california(folder)
  else console.log('model: name the folder of the tables for scoring in SQL: npm run bench -- model <folder>')
  await serving()
}
