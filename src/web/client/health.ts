import { createStore } from './store.js'

/** Why the chain of the server does not grow, as reported by `/health`. */
export interface ChainProblem {
  readonly source: string
  readonly state: string
  readonly block: number | null
  readonly check: string
  readonly reason: string
  /** How long it has lasted; undefined if unknown. */
  readonly seconds?: number
}

/** The current problem; undefined while the chain grows. */
export const chainProblem = createStore<ChainProblem | undefined>(undefined)

/** Block of a development chain from which on state roots are not compared; null if all are compared. */
export const unverifiedFrom = createStore<number | null>(null)

const POLL_MS = 10_000

/** Polls `/health` while the page is visible, until it is closed. */
export function watchHealth(): void {
  const look = async () => {
    if (document.visibilityState === 'visible') await readHealth()
    setTimeout(() => void look(), POLL_MS)
  }
  void look()
}

interface Health {
  readonly problem?: ChainProblem | null
  readonly following?: Follower | null
  readonly l2Following?: Follower | null
  readonly unverifiedFrom?: number | null
}

interface Follower {
  readonly stopped?: { readonly seconds: number } | null
}

async function readHealth(): Promise<void> {
  let health: Health = {}
  try {
    health = (await (await fetch('health')).json()) as Health
  } catch {
    // A separate notice covers a server that does not answer.
  }
  const { problem, following, l2Following } = health
  const seconds = (problem?.source === 'layer 2' ? l2Following : following)?.stopped?.seconds
  chainProblem.set(problem ? { ...problem, seconds } : undefined)
  unverifiedFrom.set(health.unverifiedFrom ?? null)
}
