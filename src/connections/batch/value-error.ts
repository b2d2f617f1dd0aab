/** A value that its column's type cannot hold. The message describes the value without repeating it, and says how to read it anyway. */
export class ValueError extends Error {
  constructor(
    message: string,
    readonly hint = 'Convert the column there, in a statement of that database: SELECT * FROM db (SELECT … ).',
  ) {
    super(message)
  }
}
