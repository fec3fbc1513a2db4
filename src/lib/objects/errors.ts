import { CairnError } from '../errors.js'

/** A conditional put found another object, or none. */
export class ObjectConflict extends CairnError {
  readonly key: string
  constructor(place: string, key: string) {
    super(`${place}/${key} was written by another process; nothing was replaced`)
    this.key = key
  }
}

/** A store operation failed, after retries where they may help. */
export class ObjectStoreFailed extends CairnError {
  /** HTTP status of S3. */
  readonly status: number | undefined
  /** The error code of S3, such as `NoSuchBucket`, or of the system, such as `ENOSPC`. */
  readonly code: string | undefined
  constructor({ action, object, problem, status, code }: FailedAction, options?: ErrorOptions) {
    super(`${action} ${object}: ${problem}`, options)
    this.status = status
    this.code = code
  }
}

/** The failed action and its cause. */
interface FailedAction {
  /** `put`, `get`, `head`, `list` or `delete`. */
  readonly action: string
  /** Place and key. */
  readonly object: string
  readonly problem: string
  readonly status?: number
  readonly code?: string
}

/** An object is larger than its reader accepts. */
export class ObjectTooLarge extends CairnError {
  constructor(object: string, { bytes, maxBytes }: { bytes: number; maxBytes: number }) {
    super(`${object} has ${bytes} bytes, more than the ${maxBytes} that are read`)
  }
}
