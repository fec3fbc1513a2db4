import {
  closeSync,
  createReadStream,
  constants as files,
  fstatSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs'
import { constants, createGunzip, gunzipSync } from 'node:zlib'
import { messageOf, UsageError } from '../../lib/errors.js'
import { SourceError } from '../source.js'

const HEAD_BYTES = 65_536
const MAX_UNPACKED_HEAD_BYTES = 1024 * 1024
const CHUNK_BYTES = 1024 * 1024
const GZIP_MAGIC = [0x1f, 0x8b]
// Large enough that reading costs little compared to decoding, and small compared to the other memory of an import.
const WINDOW_BYTES = 4 * 1024 * 1024
// Gzip files that need random access are decompressed into memory. Decompressed era1 files of mainnet have at most 0.7
// GB.
const MAX_UNPACKED_BYTES = 1024 * 1024 * 1024

/** Reads the first bytes of a file, decompressed from its first 65,536 bytes when it is gzip. For format detection.
 *  @throws UsageError when the file cannot be opened */
export function readHead(path: string): Uint8Array {
  const fd = openFile(path)
  try {
    const head = Buffer.alloc(HEAD_BYTES)
    const bytes = head.subarray(0, readSync(fd, head, 0, HEAD_BYTES, 0))
    return isGzip(bytes) ? unpackHead(bytes) : bytes
  } finally {
    closeSync(fd)
  }
}

function unpackHead(bytes: Uint8Array): Uint8Array {
  try {
    // Decompresses up to the cut. 64 KB of gzip expand to 64 MB at most; the first MB is enough.
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, MAX_UNPACKED_HEAD_BYTES)
  } catch {
    return new Uint8Array(0)
  }
}

/** True for the first bytes of a gzip stream (RFC 1952, 2.3.1). */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === GZIP_MAGIC[0] && bytes[1] === GZIP_MAGIC[1]
}

/** Opens a regular file. Other kinds are rejected before opening: opening a FIFO blocks until it has a writer, and
 *  opening a device may have side effects. @throws UsageError */
export function openFile(path: string): number {
  try {
    requireRegular(path, statSync(path))
    // The file may be replaced between the two calls; with O_NONBLOCK even a FIFO does not block.
    const fd = openSync(path, files.O_RDONLY | files.O_NONBLOCK)
    try {
      requireRegular(path, fstatSync(fd))
      return fd
    } catch (error) {
      closeSync(fd)
      throw error
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`cannot open ${path}: ${messageOf(error)}`, { cause: error })
  }
}

function requireRegular(path: string, stats: Stats): void {
  if (stats.isFile()) return
  const kind = stats.isDirectory()
    ? 'a directory'
    : stats.isFIFO()
      ? 'a FIFO'
      : stats.isSocket()
        ? 'a socket'
        : 'a device'
  throw new UsageError(`cannot read ${path}: it is ${kind}; expected a regular file`)
}

/** Reads the content of a UTF-8 text file of at most `maxBytes`.
 *  @throws UsageError when it cannot be opened, is larger, or is not UTF-8. */
export function readTextFile(path: string, maxBytes: number): string {
  return readAs(path, maxBytes, (bytes) => new TextDecoder('utf-8', { fatal: true }).decode(bytes))
}

/** Reads the content of a file of at most `maxBytes`. @throws UsageError when it cannot be opened, or is larger */
export function readBinaryFile(path: string, maxBytes: number): Uint8Array {
  return readAs(path, maxBytes, ({ buffer, byteOffset, length }) => new Uint8Array(buffer, byteOffset, length))
}

function readAs<T>(path: string, maxBytes: number, decode: (bytes: Buffer) => T): T {
  const fd = openFile(path)
  try {
    const { size } = fstatSync(fd)
    if (size > maxBytes) throw new UsageError(`cannot read ${path}: it has ${size} bytes, the limit is ${maxBytes}`)
    return decode(readWhole(fd, size))
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`cannot read ${path}: ${messageOf(error)}`, { cause: error })
  } finally {
    closeSync(fd)
  }
}

/** Returns the content of a file in chunks, decompressed when it is gzip. Calls `onRead` with the number of bytes of
 *  each read from the file.
 *  @throws UsageError when the file cannot be opened. */
export function streamFile(
  path: string,
  onRead: (count: number) => void = () => {},
): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  const fd = openFile(path)
  const magic = Buffer.alloc(2)
  // Uncompressed content is read synchronously: waiting for a thread takes longer than the read.
  if (readSync(fd, magic, 0, 2, 0) < 2 || !isGzip(magic)) return readChunks(fd, onRead)
  const file = createReadStream(path, { fd, start: 0, highWaterMark: CHUNK_BYTES })
  const unpacked = createGunzip({ chunkSize: 256 * 1024 })
  file.on('error', (error) => unpacked.destroy(error))
  file.on('data', (chunk) => onRead(chunk.length))
  unpacked.on('close', () => file.destroy())
  return file.pipe(unpacked)
}

function* readChunks(fd: number, onRead: (count: number) => void): Generator<Uint8Array> {
  try {
    for (let at = 0; ; ) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(fstatSync(fd).size - at, 1)))
      const length = readSync(fd, chunk, 0, chunk.length, at)
      if (length === 0) return
      at += length
      onRead(length)
      yield chunk.subarray(0, length)
    }
  } finally {
    closeSync(fd)
  }
}

/** Random access to the content of a file. */
export interface FileBytes {
  readonly size: number
  /** True for the content of a gzip file: reads need no window. */
  readonly isInMemory: boolean
  /** Bytes [offset, offset + length), as a view that is valid until the next read. The range must be within `size`.
   *  @throws SourceError when the file was truncated meanwhile. */
  read(offset: number, length: number): Uint8Array
  close(): void
}

/** Opens a file for random access: through a 4 MiB window, or decompressed into memory when it is gzip.
 *  @throws UsageError when it cannot be opened; SourceError when it cannot be decompressed. */
export function openFileBytes(path: string): FileBytes {
  const fd = openFile(path)
  const { size } = fstatSync(fd)
  let window = Buffer.alloc(Math.min(size, WINDOW_BYTES))
  let start = 0
  let filled = 0
  const read = (offset: number, length: number) => {
    if (offset < start || offset + length > start + filled) {
      if (length > window.length) window = Buffer.alloc(length)
      start = offset
      filled = readSync(fd, window, 0, Math.min(window.length, size - offset), offset)
      if (filled < length) throw new SourceError({ path, offset, problem: `expected ${length} bytes, got ${filled}` })
    }
    return new Uint8Array(window.buffer, window.byteOffset + offset - start, length)
  }
  if (size < 2 || !isGzip(read(0, 2))) return { size, isInMemory: false, read, close: () => closeSync(fd) }
  try {
    const bytes = gunzipSync(readWhole(fd, size), { maxOutputLength: MAX_UNPACKED_BYTES })
    const readMemory = (offset: number, length: number) => bytes.subarray(offset, offset + length)
    return { size: bytes.length, isInMemory: true, read: readMemory, close() {} }
  } catch (error) {
    const isTooLarge = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'
    const reason = isTooLarge ? `has more than ${MAX_UNPACKED_BYTES} bytes, gunzip it first` : messageOf(error)
    throw new SourceError({ path, offset: 0, problem: `cannot be unpacked: ${reason}`, cause: error })
  } finally {
    closeSync(fd)
  }
}

function readWhole(fd: number, size: number): Buffer {
  const whole = Buffer.alloc(size)
  for (let at = 0; at < size; ) {
    const count = readSync(fd, whole, at, size - at, at)
    if (count === 0) return whole.subarray(0, at)
    at += count
  }
  return whole
}
