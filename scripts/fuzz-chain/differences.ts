import type { Request } from './requests/random.js'

/** A parsed answer; `invalid` where the text is not JSON. */
export interface JsonAnswer {
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
  invalid?: string
}

/** A difference between Cairn and geth that is meant, or that is known and open. docs/verification.md has the reasons. */
export interface IntendedDifference {
  name: string
  /** The answers without the difference; undefined where it does not apply. */
  apply(request: Request, own: JsonAnswer, theirs: JsonAnswer): [JsonAnswer, JsonAnswer] | undefined
}

const INVALID_PARAMS = -32602

/** All of them, in the order in which they are applied. */
export const INTENDED: readonly IntendedDifference[] = [
  {
    name: 'words of parameter errors',
    apply: (_, own, theirs) =>
      own.error?.code === INVALID_PARAMS && theirs.error?.code === INVALID_PARAMS ? [{}, {}] : undefined,
  },
]
