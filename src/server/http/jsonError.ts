import type { ServerResponse } from 'node:http'

/** Ends a response with the body `{"error": message}`. `headers` alternates further names and values. */
export function sendJsonError(
  response: ServerResponse,
  { status, message, headers = [] }: { status: number; message: string; headers?: readonly string[] },
): void {
  const body = JSON.stringify({ error: message })
  const length = String(Buffer.byteLength(body))
  response.writeHead(status, [...headers, 'Content-Type', 'application/json', 'Content-Length', length])
  response.end(body)
}
