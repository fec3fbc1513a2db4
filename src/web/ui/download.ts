import type { ExportFormat } from '../exportRows.js'

const TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
}

/** Saves text as a file through the browser. */
export function download(name: string, text: string, format: ExportFormat): void {
  const url = URL.createObjectURL(new Blob([text], { type: TYPES[format] }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name}.${format}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
