"""pygls's protocol with texts of our own, and an answer to every request, however odd it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method

if TYPE_CHECKING:
    from forklint.server.server import Server


class Protocol(LanguageServerProtocol):
    """The language server protocol; the texts are those of ``texts``."""

    _server: Server

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Read a message; a request that cannot be read is answered with an error."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if isinstance(data.get("id"), (int, str)) and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take in a text that was opened."""
        self._server.was_edited(self._server.texts.open(params.text_document))

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take in an edit."""
        self._server.was_edited(self._server.texts.change(params))

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a text."""
        self._server.was_closed(params.text_document.uri)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Take in a notebook that was opened."""
        self._server.was_edited(self._server.texts.open_notebook(params))

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Take in an edit of a notebook."""
        self._server.was_edited(self._server.texts.change_notebook(params))

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """Forget a notebook."""
        self._server.was_closed(params.notebook_document.uri)
