import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PublishedPlace } from '../store/snapshotCopy.js'

/** How far the writer of `datadir` has published, by its `publisher.json`; undefined where it has none. Everything up to that
 *  sequence is committed in the database. */
export function readPublishedPlace(datadir: string): PublishedPlace | undefined {
  let place: Partial<PublishedPlace>
  try {
    place = JSON.parse(readFileSync(join(datadir, 'publisher.json'), 'utf8'))
  } catch {
    return undefined
  }
  const { stream, sequence, epoch, number, hash } = place
  const isWhole =
    typeof stream === 'string' &&
    [sequence, epoch, number].every((each) => Number.isSafeInteger(each)) &&
    /^0x[0-9a-f]{64}$/.test(String(hash))
  return isWhole ? (place as PublishedPlace) : undefined
}
