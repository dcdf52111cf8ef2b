"""Answers that say what is wrong, in the words of both protocols."""
import json

KINDS = {400: 'BadRequestException', 401: 'UnauthorizedException', 403: 'ForbiddenException',
         404: 'ModelNotFoundException', 408: 'RequestTimeoutException', 413: 'RequestEntityTooLargeException',
         415: 'UnsupportedMediaTypeException',
         503: 'ServiceUnavailableException', 504: 'RequestTimeoutException'}


def failure(status, text, headers=None):
    """(status, content type, body, headers)"""
    body = {'code': status, 'type': KINDS.get(status, 'InternalServerException'), 'message': text, 'error': text}
    return status, 'application/json', json.dumps(body).encode(), headers or {}
