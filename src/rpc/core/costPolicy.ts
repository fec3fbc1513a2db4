import { createGenerationCache, type GenerationCache } from '../../lib/generationCache.js'

/** Number of keys whose outcomes are remembered. */
const MAX_KEYS = 8192

/** How a `CostPolicy` learns. */
interface CostRule {
  /** Weight of the newest sample in the mean, 0 to 1. */
  readonly newest: number
  /** Aborts in a row without a pause. Default: 1. */
  readonly leniency?: number
  /** Calls of a key that are not tried after the next abort in a row; doubles with each further one. */
  readonly firstPause: number
  readonly maxPause: number
  /** Returns the mean after an abort. Default: as after a finished call. */
  readonly meanAfterAbort?: (mean: number, sample: number) => number
}

/** What is known of the calls of a cost key. */
interface KnownCost {
  /** Mean of the samples, recent ones weighing more. */
  readonly mean: number
  /** Aborts since the last finished call. */
  readonly failures: number
}

/** Learns from the outcomes of tried calls, by cost key, which calls are worth another try. Calls of unknown keys are;
 *  keys whose calls are aborted in a row are tried ever more rarely. */
export class CostPolicy<K = string> {
  readonly #rule: CostRule
  readonly #keys: GenerationCache<K, { mean: number; failures: number; pause: number }>

  constructor(rule: CostRule) {
    this.#rule = rule
    this.#keys = createGenerationCache({ maxBytes: 2 * MAX_KEYS, sizeOf: () => 1 })
  }

  /** Returns what is known of a key; undefined without an outcome. */
  get(key: K): KnownCost | undefined {
    return this.#keys.get(key)
  }

  /** True if the next call of the key is not tried. Counts that call. */
  skips(key: K): boolean {
    const known = this.#keys.get(key)
    if (known === undefined || known.pause === 0) return false
    known.pause--
    return true
  }

  /** Records a tried call: whether it finished, and its sample. */
  note(key: K, finished: boolean, sample: number): void {
    const { newest, leniency = 1, firstPause, maxPause, meanAfterAbort } = this.#rule
    let known = this.#keys.get(key)
    if (known === undefined) {
      known = { mean: sample, failures: 0, pause: 0 }
      this.#keys.set(key, known)
    }
    const { mean } = known
    known.mean = finished || !meanAfterAbort ? mean + (sample - mean) * newest : meanAfterAbort(mean, sample)
    known.failures = finished ? 0 : known.failures + 1
    const counted = known.failures - leniency
    known.pause = counted < 1 ? 0 : Math.min(maxPause, firstPause * 2 ** (counted - 1))
  }
}
