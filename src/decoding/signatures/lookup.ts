import { createGenerationCache } from '../../lib/generationCache.js'
import { decodeSignaturePage, type SignatureKind, type SignatureReader } from '../../store/signatures.js'
import { hashSignature } from '../abiItems.js'

/** Returns the added signatures whose hash begins with these 4 bytes, without duplicates: those of the set added first
 *  come first, sorted. */
export type SignatureLookup = (kind: SignatureKind, selector: Uint8Array) => readonly string[]

/** A look-up for decoders without signatures. */
export const noSignatures: SignatureLookup = () => []

interface Page {
  readonly byKey: ReadonlyMap<number, readonly string[]>
  /** Approximate memory. */
  readonly bytes: number
}

// A page has some hundred signatures, about 40 KB with its map.
const CACHE_BYTES = 8_388_608
const BYTES_PER_SIGNATURE = 100

/** Creates a look-up in the database, with a cache of pages. Each signature of a page is hashed when the page is read,
 *  so damaged pages cause no wrong names. */
export function createSignatureLookup(reader: SignatureReader): SignatureLookup {
  const cache = createGenerationCache<string, Page>({
    maxBytes: CACHE_BYTES,
    sizeOf: (id, { bytes }) => id.length + bytes,
  })
  return (kind, selector) => {
    const key = keyOfSelector(selector)
    const found = reader.pages(kind, key).flatMap(({ id, data }) => {
      let page = cache.get(id)
      if (page === undefined) {
        page = readPage(data)
        cache.set(id, page)
      }
      return page.byKey.get(key) ?? []
    })
    return [...new Set(found)]
  }
}

function keyOfSelector(bytes: Uint8Array): number {
  return ((bytes[0] << 24) | (bytes[1] << 16) | (bytes[2] << 8) | bytes[3]) >>> 0
}

function readPage(data: Uint8Array): Page {
  const byKey = new Map<number, string[]>()
  let bytes = 0
  for (const text of decodeSignaturePage(data)) {
    const key = keyOfSelector(hashSignature(text))
    const texts = byKey.get(key)
    if (texts === undefined) byKey.set(key, [text])
    else texts.push(text)
    bytes += BYTES_PER_SIGNATURE + text.length
  }
  return { byKey, bytes }
}
