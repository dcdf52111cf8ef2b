"""Programs at the places where MXNet had them."""
