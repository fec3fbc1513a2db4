-- The key of cursors (eth_getLogsWithCursor), as meta values are: JSON text.
INSERT INTO `meta` (`key`, `value`) VALUES ('cursor_secret', '"' || lower(hex(randomblob(32))) || '"');
