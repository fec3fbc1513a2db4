import { createStore } from './store.js'

/** Why the chain of the server does not grow, as `/health` has it. */
export interface ChainProblem {
  readonly source: string
  readonly state: string
  readonly block: number | null
  readonly check: string
  readonly reason: string
}

/** The present problem; undefined while the chain grows. */
export const chainProblem = createStore<ChainProblem | undefined>(undefined)

const POLL_MS = 10_000

/** Reads `/health` until the page is left, while it is visible. */
export function watchHealth(): void {
  const look = async () => {
    if (document.visibilityState === 'visible') chainProblem.set(await readProblem())
    setTimeout(() => void look(), POLL_MS)
  }
  void look()
}

async function readProblem(): Promise<ChainProblem | undefined> {
  try {
    const { problem } = (await (await fetch('health')).json()) as { problem?: ChainProblem | null }
    return problem ?? undefined
  } catch {
    return undefined // a server that does not answer has a notice of its own
  }
}
