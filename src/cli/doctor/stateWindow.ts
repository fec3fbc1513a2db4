/** How far below the head a node has states, in blocks. */
export interface StateWindow {
  /** A depth that has a state; all lower ones are taken to have one, too. */
  readonly depth: number
  /** The lowest depth that is known to have none; undefined where the deepest one that was asked for has a state. */
  readonly missing?: number
  /** Why the search ended early; undefined when `missing` is `depth + 1` or undefined. */
  readonly problem?: unknown
}

/** Finds the deepest state by bisection, with at most 2 + log2(`most`) questions. Depth 0, the head, must have a state.
 *  @param most the greatest depth to ask for, at least 0
 *  @param hasState what it throws ends the search with what is known by then */
export async function findStateWindow(
  most: number,
  hasState: (depth: number) => Promise<boolean>,
): Promise<StateWindow> {
  let depth = 0
  let missing: number | undefined
  try {
    if (most === 0 || (await hasState(most))) return { depth: most }
    missing = most
    while (missing - depth > 1) {
      const middle: number = Math.floor((depth + missing) / 2)
      if (await hasState(middle)) depth = middle
      else missing = middle
    }
    return { depth, missing }
  } catch (problem) {
    return { depth, missing, problem }
  }
}
