import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream, type Dirent } from 'node:fs'
import { constants, copyFile, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { withPath } from '../durableFiles.js'
import { messageOf } from '../errors.js'
import { ObjectConflict, ObjectStoreFailed } from './errors.js'
import { requireKey, TEMPORARY } from './keys.js'
import type {
  FilePart,
  ListedObject,
  ObjectBody,
  ObjectFacts,
  ObjectStore,
  PutOptions,
  RequestControl,
} from './objectStore.js'

/** Presents a directory as an object store: a file per object. Files are synced and then renamed, so that a crash
 *  leaves the old or the new object; `absent` is decided by the file system (a hard link). A version is compared before
 *  the rename: two processes that replace one object at a time need a lock between them. */
export function createDirectoryStore(directory: string): ObjectStore {
  const root = resolve(directory)
  const pathOf = (key: string) => join(root, requireKey(key))
  const explain = async <T>(action: string, key: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw explainSystem(error, action, join(root, key))
    }
  }
  const store: ObjectStore = {
    place: directory,
    put: (key, body, options = {}) =>
      explain('put', key, async () => {
        const path = pathOf(key)
        const temporary = temporaryPath(path)
        await mkdir(dirname(path), { recursive: true })
        try {
          await writeFile(temporary, body, options)
          return await publish(store, { key, path, temporary }, options)
        } finally {
          await rm(temporary, { force: true })
        }
      }),
    putFile: (key, file, options = {}) =>
      explain('put', key, async () => {
        const path = pathOf(key)
        await mkdir(dirname(path), { recursive: true })
        const version = await publish(store, { key, path, temporary: file }, options)
        await rm(file, { force: true })
        return version
      }),
    get: (key, { range, signal } = {}) =>
      explain('get', key, async () => {
        signal?.throwIfAborted()
        const facts = await factsOf(pathOf(key))
        if (facts === undefined) return undefined
        if (range === undefined || range.length === 0) {
          const stream = createReadStream(pathOf(key), { signal, flags: READ, ...(range && { end: -1 }) })
          return { ...facts, ...(range && { bytes: 0 }), stream }
        }
        const { from, length } = range
        const bytes = Math.max(0, Math.min(length, facts.bytes - from))
        return {
          ...facts,
          bytes,
          stream: createReadStream(pathOf(key), { signal, flags: READ, start: from, end: from + length - 1 }),
        }
      }),
    head: (key) => explain('head', key, () => factsOf(pathOf(key))),
    list: (prefix, control) => listFiles(root, prefix, control),
    delete: (key) =>
      explain('delete', key, async () => {
        await rm(pathOf(key), { force: true })
      }),
    stagingPath: (key) => `${pathOf(key)}${TEMPORARY}`,
    removeStaged: (prefix) =>
      explain('list', prefix, async () => {
        for (const { name } of await readFolder(root)) {
          if (name.startsWith(prefix) && name.endsWith(TEMPORARY)) await rm(join(root, name), { force: true })
        }
      }),
  }
  return store
}

function temporaryPath(path: string): string {
  return `${path}.${process.pid}.${randomBytes(4).toString('hex')}${TEMPORARY}`
}

/** Opening a FIFO that has replaced a file since its check must not wait for a writer. Node accepts flags of the system
 *  here, too. */
const READ = (constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)) as unknown as string

/** @throws ObjectStoreFailed unless it is a regular file: a FIFO or a device may block or never end */
async function factsOf(path: string): Promise<ObjectFacts | undefined> {
  try {
    const found = await stat(path, { bigint: true })
    if (!found.isFile()) {
      throw new ObjectStoreFailed({ action: 'get', object: path, problem: 'it is not a regular file' })
    }
    const { size, ino, mtimeNs } = found
    return { bytes: Number(size), version: `${ino}-${mtimeNs}-${size}` }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function writeFile(path: string, body: ObjectBody, { signal, sha256 }: PutOptions): Promise<void> {
  const hash = createHash('sha256')
  const content = body instanceof Uint8Array ? Readable.from([body]) : readPart(body)
  const digest = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      if (sha256 !== undefined) hash.update(chunk)
      yield chunk
    }
  }
  await pipeline(content, digest, createWriteStream(path, { flags: 'wx' }), { signal })
  if (sha256 !== undefined && hash.digest('hex') !== sha256) {
    throw new ObjectStoreFailed({ action: 'put', object: path, problem: 'the bytes have another SHA-256' })
  }
}

/** Reads a part of a file. */
export function readPart({ path, from, length }: FilePart, signal?: AbortSignal): Readable {
  if (length === 0) return Readable.from([])
  return createReadStream(path, { start: from, end: from + length - 1, highWaterMark: 2 ** 20, signal })
}

async function publish(
  store: ObjectStore,
  { key, path, temporary }: { key: string; path: string; temporary: string },
  { condition, signal }: PutOptions,
): Promise<string> {
  await sync(temporary)
  signal?.throwIfAborted()
  if (condition === 'absent') {
    try {
      await linkOrCopy(temporary, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new ObjectConflict(store.place, key)
      throw error
    }
  } else {
    if (condition !== undefined && (await factsOf(path))?.version !== condition.version) {
      throw new ObjectConflict(store.place, key)
    }
    await moveTo(temporary, path)
  }
  await sync(dirname(path))
  return (await factsOf(path))?.version ?? ''
}

/** Links the file to a new name, which must not exist. File systems without hard links get a copy, which is exclusive,
 *  too. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EMLINK'].includes(code)) throw error
    await copyFile(from, to, constants.COPYFILE_EXCL)
    await sync(to)
  }
}

async function moveTo(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    const beside = temporaryPath(to)
    await copyFile(from, beside)
    await sync(beside)
    await rename(beside, to)
  }
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

async function* listFiles(root: string, prefix: string, control: RequestControl = {}): AsyncIterable<ListedObject> {
  const walk = async function* (folder: string): AsyncIterable<ListedObject> {
    control.signal?.throwIfAborted()
    for (const entry of await readFolder(join(root, folder))) {
      const key = folder === '' ? entry.name : `${folder}/${entry.name}`
      const isOnTheWay = key.startsWith(prefix) || prefix.startsWith(`${key}/`)
      if (!isOnTheWay || entry.name.startsWith('.') || entry.name.endsWith(TEMPORARY)) continue
      if (entry.isDirectory()) yield* walk(key)
      else if (entry.isFile() && key.startsWith(prefix)) {
        const facts = await factsOf(join(root, key))
        if (facts) yield { key, bytes: facts.bytes }
      }
    }
  }
  yield* walk('')
}

/** The entries in the order of their keys: a folder's name counts with the `/` after it. */
async function readFolder(path: string): Promise<Dirent[]> {
  try {
    const nameOf = (entry: Dirent) => (entry.isDirectory() ? `${entry.name}/` : entry.name)
    const entries = await readdir(path, { withFileTypes: true })
    return entries.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw explainSystem(error, 'list', path)
  }
}

function explainSystem(error: unknown, action: string, object: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code === undefined || syscall === undefined) return error
  return new ObjectStoreFailed({ action, object, problem: messageOf(error), code }, { cause: withPath(error, object) })
}
