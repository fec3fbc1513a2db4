import { hexToNumber } from 'viem'
import type { LogFilter } from '../logFilter.js'
import { call } from './rpc.js'
import type { Hex, Log } from './types.js'

/** Logs per request. */
const PAGE_LOGS = 1000

interface CursorPage {
  logs: Log[]
  cursor: string | null
  scannedTo: Hex | null
  headHash: Hex
}

/** Results so far. */
export interface LogsSoFar {
  readonly logs: readonly Log[]
  /** The last completely searched block. */
  readonly scannedTo: number | undefined
  /** Undefined once complete. */
  readonly cursor: string | undefined
}

export const NO_LOGS: LogsSoFar = { logs: [], scannedTo: undefined, cursor: undefined }

/** Reads pages of `eth_getLogsWithCursor` after `begun` until `wanted` logs are read, or all. Reports each page to
 *  `onPage`. Stops when the signal is aborted. @throws CallFailed */
export async function readLogPages(
  filter: LogFilter,
  {
    begun,
    wanted,
    signal,
    onPage,
  }: { begun: LogsSoFar; wanted: number; signal: AbortSignal; onPage: (found: LogsSoFar) => void },
): Promise<void> {
  let found = begun
  do {
    const limit = Math.min(PAGE_LOGS, Math.max(1, wanted - found.logs.length))
    const page = await call<CursorPage>('eth_getLogsWithCursor', [filter, found.cursor ?? null, limit])
    if (signal.aborted) return
    found = {
      logs: [...found.logs, ...page.logs],
      scannedTo: page.scannedTo === null ? found.scannedTo : hexToNumber(page.scannedTo),
      cursor: page.cursor ?? undefined,
    }
    onPage(found)
  } while (found.cursor !== undefined && found.logs.length < wanted)
}
