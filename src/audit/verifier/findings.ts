const maxFindings = 20

/** Sentences, up to the number that anybody reads. */
export class Findings {
  readonly sentences: string[] = []

  add(sentence: string): void {
    if (this.sentences.length < maxFindings) this.sentences.push(sentence)
    else if (this.sentences.length === maxFindings) this.sentences.push('... and more')
  }
}
