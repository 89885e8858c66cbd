// Package mail takes the text out of a mail: Internet messages of RFC 5322 with the parts of RFC 2045 to 2047.
//
// Mails of the wild break those rules, so every sequence of bytes has a text, which is a function of
// the bytes alone; nothing is an error. What is malformed is read as follows.
//
//   - The header ends at the first empty line, or before the first line that is no field, does not
//     continue one, and is no "From " line of a mailbox file. What follows is the body.
//   - A Content-Type that cannot be parsed gives its type, boundary and charset as far as they can be
//     found. Without a type, or with text/* or message/* in general, the body is text.
//   - A multipart ends with its last line of boundary or with the text around it. Without any such line its
//     body is text. Parts deeper than 16 levels are text.
//   - base64 passes over bytes that are not of its alphabet; what is left of the last group is dropped.
//     In quoted-printable, an equals sign without two hexadecimal digits stands for itself.
//   - A charset that is not known, not said, or said to be UTF-8 or ASCII against the bytes, is UTF-8 where
//     the bytes are valid, and else windows-1252. Names and mappings are those of the WHATWG's
//     Encoding Standard, so iso-8859-1 is windows-1252, too.
//   - NUL bytes become U+FFFD, as do bytes that a charset gives no meaning to.
//
// HTML is text as it stands, tags included. Of attachments that are not text nothing is taken.
package mail
