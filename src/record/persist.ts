import { isTransientUpstreamError } from '../sources/ethRpc/developmentGenesis.js'
import { systemClock } from '../sources/upstreams/clock.js'
import type { StateFetcher } from './stateFetcher.js'

const ATTEMPTS = 5
const RETRY_MS = 500

/** Retries after failures of the connection. */
export async function persist<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isTransientUpstreamError(error) || attempt === ATTEMPTS) throw error
    }
    await systemClock.sleep(RETRY_MS * attempt, signal)
  }
}

/** Returns a fetcher that retries. */
export function persistent({ accounts, slots }: StateFetcher, signal: AbortSignal | undefined): StateFetcher {
  return {
    accounts: (addresses) => persist(() => accounts(addresses), signal),
    slots: (wanted) => persist(() => slots(wanted), signal),
  }
}
