import { readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { readPart } from './directoryStore.js'
import { ObjectConflict, ObjectStoreFailed } from './errors.js'
import { requireKey, TEMPORARY } from './keys.js'
import type { ListedObject, ObjectBody, ObjectStore, PutOptions, RequestControl } from './objectStore.js'
import { createS3Client, type S3Answer, type S3Request } from './s3Client.js'
import type { S3Settings } from './s3Settings.js'
import { parseListing } from './s3Xml.js'

/** Largest object of one put (https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html). */
const MAX_PUT_BYTES = 5 * 2 ** 30

/** Presents the objects of a bucket below a prefix, which may be empty, as an object store. A body with a SHA-256 is
 *  signed with it, so that the server refuses other bytes. Conditions are If-None-Match and If-Match; versions are
 *  ETags. */
export function createS3Store(bucket: string, prefix: string, settings: S3Settings): ObjectStore {
  const client = createS3Client(bucket, settings)
  const place = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`
  const fullKey = (key: string) => (prefix === '' ? key : `${prefix}/${key}`)
  const object = (key: string) => `${place}/${key}`
  const request = (method: S3Request['method'], action: string, key: string): S3Request => ({
    ...{ method, action, object: object(key) },
    key: fullKey(requireKey(key)),
  })
  const put = async (key: string, body: ObjectBody, options: PutOptions = {}): Promise<string> => {
    const { condition, sha256, signal } = options
    const bytes = body.length
    if (bytes > MAX_PUT_BYTES) {
      const problem = `an object of ${bytes} bytes is larger than the 5 GiB that S3 takes at once`
      throw new ObjectStoreFailed({ action: 'put', object: object(key), problem })
    }
    const headers: Record<string, string> = { 'content-length': String(bytes) }
    if (sha256 !== undefined) headers['x-amz-content-sha256'] = sha256
    const open = () => (body instanceof Uint8Array ? body : (Readable.toWeb(readPart(body)) as ReadableStream))
    let attempts = 0
    for (const conditional of conditionHeaders(condition)) {
      const answer = await client.send(
        { ...request('PUT', 'put', key), headers: { ...headers, ...conditional }, body: { bytes, open }, signal },
        condition === undefined ? [200] : [200, 404, 412],
      )
      if (answer.status === 200) return factsOf(answer).version
      attempts = Math.max(attempts, answer.attempts)
    }
    // The stored object may be that of an attempt whose answer was lost.
    const same = attempts > 1 ? await findSame(client, request('GET', 'get', key), body, signal) : undefined
    if (same !== undefined) return same
    throw new ObjectConflict(place, key)
  }
  return {
    place,
    put,
    putFile: async (key, path, options) => {
      const { size } = await stat(path)
      const version = await put(key, { path, from: 0, length: size }, options)
      await rm(path, { force: true })
      return version
    },
    get: async (key, { range, signal } = {}) => {
      const headers: Record<string, string> = {}
      if (range !== undefined) headers.range = `bytes=${range.from}-${range.from + range.length - 1}`
      const answer = await client.send({ ...request('GET', 'get', key), headers, signal }, [200, 206, 404])
      if (answer.status === 404) return undefined
      return { ...factsOf(answer), stream: answer.stream() }
    },
    head: async (key, { signal } = {}) => {
      const answer = await client.send({ ...request('HEAD', 'head', key), signal }, [200, 404])
      return answer.status === 404 ? undefined : factsOf(answer)
    },
    list: (listed, control) => listObjects(client, { place, base: prefix === '' ? '' : `${prefix}/`, listed }, control),
    delete: async (key, { signal } = {}) => {
      await client.send({ ...request('DELETE', 'delete', key), signal }, [200, 204, 404])
    },
    stagingPath: (key) => join(tmpdir(), stagedName(process.pid, key)),
    removeStaged: async (listed) => {
      for (const name of await readdir(tmpdir())) {
        const [, pid] = /^cairn-s3-(\d+)-/.exec(name) ?? []
        const isOurs = pid !== undefined && name.startsWith(stagedName(Number(pid), listed).slice(0, -TEMPORARY.length))
        if (isOurs && name.endsWith(TEMPORARY) && !isRunning(Number(pid)))
          await rm(join(tmpdir(), name), { force: true })
      }
    },
  }
}

/** The headers of a condition, to be tried in turn: radosgw 16 compares the header of a put with the ETag without its
 *  quotes. */
function conditionHeaders(condition: PutOptions['condition']): { readonly [name: string]: string }[] {
  if (condition === undefined) return [{}]
  if (condition === 'absent') return [{ 'if-none-match': '*' }]
  const { version } = condition
  return [...new Set([version, version.replaceAll('"', '')])].map((each) => ({ 'if-match': each }))
}

function stagedName(pid: number, key: string): string {
  return `cairn-s3-${pid}-${key.replaceAll('/', '_')}${TEMPORARY}`
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

type Client = ReturnType<typeof createS3Client>

function factsOf({ headers }: S3Answer) {
  return { bytes: Number(headers.get('content-length') ?? 0), version: headers.get('etag') ?? '' }
}

/** The version of the object if it is the body. Only bodies in memory are compared: conditions are for manifests. */
async function findSame(
  client: Client,
  request: S3Request,
  body: ObjectBody,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  if (!(body instanceof Uint8Array)) return undefined
  const answer = await client.send({ ...request, signal }, [200, 404])
  if (answer.status === 404) return undefined
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.stream()) {
    bytes += (chunk as Uint8Array).length
    if (bytes > body.length) return undefined
    chunks.push(chunk as Uint8Array)
  }
  return Buffer.concat(chunks).equals(body) ? factsOf(answer).version : undefined
}

async function* listObjects(
  client: Client,
  { place, base, listed }: { place: string; base: string; listed: string },
  { signal }: RequestControl = {},
): AsyncIterable<ListedObject> {
  for (let token: string | undefined = ''; token !== undefined; ) {
    const query = { 'list-type': '2', 'encoding-type': 'url', prefix: `${base}${listed}` }
    const answer = await client.send(
      {
        ...{ method: 'GET', action: 'list', object: `${place}/${listed}`, key: '', signal },
        query: token === '' ? query : { ...query, 'continuation-token': token },
      },
      [200],
    )
    const page = parseListing(await answer.text())
    for (const { key, bytes } of page.objects) yield { key: key.slice(base.length), bytes }
    token = page.next
  }
}
