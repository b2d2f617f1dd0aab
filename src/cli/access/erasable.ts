/** The arguments of `erase`, for its help and its refusal. */
export const erasable = `  prediction <position>   answer <id or position>   conversation <id>   request <id>   file <name>
  matrix <project>.<model>.<version>   secrets <kind> [<project>.]<name>   documents <project>.<knowledge base> [id …]   before <time>`
