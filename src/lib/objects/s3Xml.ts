import type { ListedObject } from './objectStore.js'

/** A page of ListObjectsV2. */
interface Listing {
  readonly objects: readonly ListedObject[]
  /** Token of the next page; undefined after the last. */
  readonly next: string | undefined
}

/** Reads an answer of ListObjectsV2 with `encoding-type=url`
 *  (https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html). */
export function parseListing(xml: string): Listing {
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, content]) => ({
    key: decodeURIComponent((element(content, 'Key') ?? '').replaceAll('+', ' ')),
    bytes: Number(element(content, 'Size')),
  }))
  const isCut = element(xml, 'IsTruncated') === 'true'
  return { objects, next: isCut ? element(xml, 'NextContinuationToken') : undefined }
}

/** The `Code` of an error, as `NoSuchBucket`; undefined when the text is no answer of S3. Other elements may repeat the
 *  access key. */
export function parseErrorCode(xml: string): string | undefined {
  const code = element(xml, 'Code')
  return code !== undefined && /^[A-Za-z0-9.]{1,64}$/.test(code) ? code : undefined
}

function element(xml: string, name: string): string | undefined {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? []
  return text?.replace(/&(lt|gt|quot|apos|amp|#\d{1,7}|#x[0-9a-fA-F]{1,6});/g, (_whole, entity: string) =>
    decode(entity),
  )
}

const ENTITIES: { readonly [name: string]: string } = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

function decode(entity: string): string {
  if (!entity.startsWith('#')) return ENTITIES[entity]
  const code = entity.startsWith('#x') ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1))
  return code <= 0x10ffff ? String.fromCodePoint(code) : ''
}
