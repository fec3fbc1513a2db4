import type { Readable } from 'node:stream'

/** Stores objects under keys, in a directory or in an S3 bucket with a prefix. A key consists of names with `/` between
 *  them; a name has letters, digits, `.`, `_`, `-` and `$`, and does not begin with a `.`. An object appears whole or
 *  not at all. */
export interface ObjectStore {
  /** Location for messages: `/srv/snapshots` or `s3://bucket/prefix`. */
  readonly place: string
  /** Stores an object; returns its version when it is durable. Replaces an existing one, unless `condition` forbids it.
   *  @throws ObjectConflict when the condition fails; ObjectStoreFailed; the reason of the signal */
  put(key: string, body: ObjectBody, options?: PutOptions): Promise<string>
  /** The content of an object, or of a part of it; undefined if missing.
   *  @throws ObjectStoreFailed, also from the stream; the reason of the signal */
  get(key: string, options?: GetOptions): Promise<ObjectContent | undefined>
  /** Undefined if the object is missing. @throws ObjectStoreFailed; the reason of the signal */
  head(key: string, options?: RequestControl): Promise<ObjectFacts | undefined>
  /** The objects whose keys begin with the prefix, by ascending key. @throws ObjectStoreFailed; the reason of the
   *  signal */
  list(prefix: string, options?: RequestControl): AsyncIterable<ListedObject>
  /** Removes an object; it may be gone already. @throws ObjectStoreFailed; the reason of the signal */
  delete(key: string, options?: RequestControl): Promise<void>
  /** Path at which to create a file for `putFile`. */
  stagingPath(key: string): string
  /** Stores a file as `put` does, and removes it. @throws as `put`: then the file stays */
  putFile(key: string, path: string, options?: PutOptions): Promise<string>
  /** Removes files that killed processes left at staging paths of keys that begin with the prefix. */
  removeStaged(prefix: string): Promise<void>
}

/** Content to store: bytes, or a part of a file. */
export type ObjectBody = Uint8Array | FilePart

/** Bytes [from, from + length) of a file. */
export interface FilePart {
  readonly path: string
  readonly from: number
  readonly length: number
}

/** Ends a request early. */
export interface RequestControl {
  readonly signal?: AbortSignal
}

/** How an object is stored. */
export interface PutOptions extends RequestControl {
  /** `absent`: the object does not exist. A version: the object is still that one. */
  readonly condition?: 'absent' | { readonly version: string }
  /** SHA-256 of the body as 64 hex digits, where it is known. The store refuses bytes of another digest. */
  readonly sha256?: string
}

/** The part of an object to read: bytes [from, from + length). Default: all. */
interface GetOptions extends RequestControl {
  readonly range?: { readonly from: number; readonly length: number }
}

/** Metadata of an object. */
export interface ObjectFacts {
  readonly bytes: number
  /** Changes whenever the object is replaced. */
  readonly version: string
}

/** An object in a list. */
export interface ListedObject {
  readonly key: string
  readonly bytes: number
}

/** An object being read. `bytes` is the length of the stream. */
interface ObjectContent extends ObjectFacts {
  readonly stream: Readable
}
