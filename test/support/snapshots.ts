import { createSnapshot } from '../../src/snapshots/createSnapshot.js'
import { restoreSnapshot } from '../../src/snapshots/restoreSnapshot.js'

type Create = Parameters<typeof createSnapshot>[0]
type Restore = Parameters<typeof restoreSnapshot>[0]

const quiet = () => ({ signal: new AbortController().signal, onProgress() {} })

/** Parts that cut the fixture's database into some 15. */
export const SMALL_PARTS = 64 * 1024

/** Makes a snapshot with small parts. */
export function snapshotOf(terms: Pick<Create, 'datadir' | 'store'> & Partial<Create>) {
  return createSnapshot({ version: '0.0.0', partBytes: SMALL_PARTS, ...quiet(), ...terms })
}

/** Restores a snapshot. */
export function restoreFrom(terms: Pick<Restore, 'datadir' | 'store'> & Partial<Restore>) {
  return restoreSnapshot({ ...quiet(), ...terms })
}
